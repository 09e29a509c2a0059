// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc

/// Files that only their owner can read, from their first byte on.
enum PrivateFile {
    /// A file that is longer is none of ours.
    static let mostBytes = 16 << 20

    /// What a file holds that the user's secrets are kept in. It may be a pipe, as a shell makes one for `<(...)`.
    static func read(_ path: String) throws -> Data {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        return try content(of: handle)
    }

    /// What a file holds that this command has written: a regular file of the user's, at its own place.
    static func readOwn(_ path: String) throws -> Data {
        let file = try OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        defer { try? file.handle.close() }
        guard file.isRegular, file.owner == geteuid() else { throw CocoaError(.fileReadNoPermission) }
        return try content(of: file.handle)
    }

    /// Why a file is not believed.
    enum Distrust: Error { case anotherUsers, writableByOthers }

    /// What a file holds that is sent in the user's name: the user's file, or the system's, to which nobody else can write; or a
    /// pipe.
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

    /// Replaces the file as a whole; a link to one is replaced, and not followed. A device or a pipe is written to.
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
            // The one call that replaces a file in one step.
            guard unsafe rename(temporary, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            throw error
        }
    }

    /// What a path leads to, open for writing; nil where that is a file or a folder, or nothing. A pipe that nobody reads is an error.
    private static func device(at path: String) throws -> OpenFile? {
        do {
            if try OpenFile(path, O_WRONLY | O_NONBLOCK | O_NOCTTY).isRegular { return nil }
        } catch let error as POSIXError where error.code != .ENXIO { return nil }
        return try OpenFile(path, O_WRONLY | O_NOCTTY)
    }
}
