// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc

/// Files that only their owner can read, from their first byte on.
enum PrivateFile {
    /// The maximum size of a file that is read.
    static let mostBytes = 16 << 20

    /// Reads a file with the user's secrets. It may be a pipe, such as a shell creates for `<(...)`.
    static func read(_ path: String) throws -> Data {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        return try content(of: handle)
    }

    /// Reads a file that this command has written: a regular file of the user's, not a symbolic link.
    static func readSaved(_ path: String) throws -> Data {
        let file = try OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        defer { try? file.handle.close() }
        guard file.isRegular, file.owner == geteuid() else { throw CocoaError(.fileReadNoPermission) }
        return try content(of: file.handle)
    }

    /// Why a file is not trusted.
    enum Distrust: Error { case anotherUsers, writableByOthers }

    /// Reads a file whose content is sent in the user's name: it must belong to the user or root and be writable by its owner
    /// only; or it is a pipe.
    static func readTrusted(_ path: String) throws -> Data {
        let file = try OpenFile(path, O_RDONLY)
        defer { try? file.handle.close() }
        if file.isRegular {
            guard file.owner == geteuid() || file.owner == 0 else { throw Distrust.anotherUsers }
            guard !file.othersMayWrite else { throw Distrust.writableByOthers }
        }
        return try content(of: file.handle)
    }

    private static func content(of handle: FileHandle) throws -> Data {
        let data = try handle.read(upToCount: mostBytes + 1) ?? Data()
        guard data.count <= mostBytes else { throw CocoaError(.fileReadTooLarge) }
        return data
    }

    /// Replaces the file atomically; a symbolic link is replaced and not followed. A device or a pipe is written to.
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
