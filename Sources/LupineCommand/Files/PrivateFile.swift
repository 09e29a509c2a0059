// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc

/// Reads and writes files with secrets. A file that it writes can be read only by its owner, from the moment of its creation.
enum PrivateFile {
    /// The maximum size of a file that is read.
    static let mostBytes = 16 << 20

    /// Reads a file with the user's secrets. The file may be a pipe, such as a shell creates for `<(...)`.
    static func read(_ path: String) throws -> Data {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        return try content(of: handle)
    }

    /// Reads a file that this command has written. Throws unless it is a regular file of the user and no symbolic link.
    static func readSaved(_ path: String) throws -> Data {
        let file = try OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        defer { try? file.handle.close() }
        guard file.isRegular, file.owner == geteuid() else { throw CocoaError(.fileReadNoPermission) }
        return try content(of: file.handle)
    }

    /// Why a file is not trusted.
    enum Distrust: Error { case ownedByAnotherUser, writableByOthers }

    /// Reads a file whose content is sent in the user's name. A regular file must belong to the user or to root, and only its
    /// owner may have write permission; otherwise a `Distrust` is thrown. A pipe is accepted.
    static func readTrusted(_ path: String) throws -> Data {
        let file = try OpenFile(path, O_RDONLY)
        defer { try? file.handle.close() }
        if file.isRegular {
            guard file.owner == geteuid() || file.owner == 0 else { throw Distrust.ownedByAnotherUser }
            guard !file.othersMayWrite else { throw Distrust.writableByOthers }
        }
        return try content(of: file.handle)
    }

    /// Reads an open file; throws if it has more than `mostBytes`.
    private static func content(of handle: FileHandle) throws -> Data {
        let data = try handle.read(upToCount: mostBytes + 1) ?? Data()
        guard data.count <= mostBytes else { throw CocoaError(.fileReadTooLarge) }
        return data
    }

    /// Replaces the file at a path atomically. A symbolic link is replaced and not followed; data for a device or a pipe is
    /// written to it.
    static func write(_ data: Data, to path: String) throws {
        if let device = try device(at: path) {
            try device.handle.write(contentsOf: data)
            return try device.handle.close()
        }
        let temporary = path + ".\(UUID().uuidString.prefix(8))"
        let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        do {
            try file.handle.write(contentsOf: data)
            try file.handle.close()
            // Only `rename` replaces a file atomically.
            guard unsafe rename(temporary, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            throw error
        }
    }

    /// Opens a device or a pipe for writing; nil if the path leads to a file, a folder or nothing. Throws for a pipe without a
    /// reader.
    private static func device(at path: String) throws -> OpenFile? {
        do {
            if try OpenFile(path, O_WRONLY | O_NONBLOCK | O_NOCTTY).isRegular { return nil }
        } catch let error as POSIXError where error.code != .ENXIO { return nil }
        return try OpenFile(path, O_WRONLY | O_NOCTTY)
    }
}
