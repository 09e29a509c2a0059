// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc

/// Reads and writes files with secrets. From the moment of its creation, only its owner can read a file that `write` creates.
enum PrivateFile {
    /// The maximum bytes of a file that is read (16 MiB).
    static let maximumLength = 16 << 20

    /// Reads a file with the user's secrets. The file may be a pipe, such as a shell creates for `<(...)`.
    static func read(_ path: String) throws -> Data {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        return try content(of: handle)
    }

    /// Reads a file that this command has written. Throws unless the path leads to a regular file of the user, and not to a
    /// symbolic link.
    static func readSaved(_ path: String) throws -> Data {
        // `O_NONBLOCK`: opening a pipe in the file's place must not wait for a writer.
        let file = try OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        defer { try? file.handle.close() }
        guard file.isRegular, file.owner == geteuid() else { throw CocoaError(.fileReadNoPermission) }
        return try content(of: file.handle)
    }

    /// The reason why `readTrusted` rejects a file: another user may have written its content.
    enum Distrust: Error { case ownedByAnotherUser, writableByOthers }

    /// Reads a file whose content is sent in the user's name. Throws a `Distrust` for a regular file if it belongs neither to the
    /// user nor to root, or if others than its owner may write to it. A pipe is accepted.
    static func readTrusted(_ path: String) throws -> Data {
        let file = try OpenFile(path, O_RDONLY)
        defer { try? file.handle.close() }
        if file.isRegular {
            guard file.owner == geteuid() || file.owner == 0 else { throw Distrust.ownedByAnotherUser }
            guard !file.isWritableByOthers else { throw Distrust.writableByOthers }
        }
        return try content(of: file.handle)
    }

    /// Reads an open file to its end. Throws if it has more than `maximumLength` bytes.
    private static func content(of handle: FileHandle) throws -> Data {
        // One byte more than allowed shows that the file is too long.
        let data = try handle.read(upToCount: maximumLength + 1) ?? Data()
        guard data.count <= maximumLength else { throw CocoaError(.fileReadTooLarge) }
        return data
    }

    /// Writes data to a path. If the path leads to a device or a pipe, the data is written to it. Otherwise the file at the path
    /// is replaced atomically; a symbolic link is replaced too, and not followed.
    static func write(_ data: Data, to path: String) throws {
        if let deviceOrPipe = try openDeviceOrPipe(at: path) {
            try deviceOrPipe.handle.write(contentsOf: data)
            return try deviceOrPipe.handle.close()
        }
        // In the same folder: `rename` cannot move a file to another file system.
        let temporaryPath = path + ".\(UUID().uuidString.prefix(8))"
        // Only the owner gets read and write permission.
        let file = try OpenFile(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        do {
            try file.handle.write(contentsOf: data)
            try file.handle.close()
            // Only `rename` replaces a file atomically.
            guard unsafe rename(temporaryPath, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? FileManager.default.removeItem(atPath: temporaryPath)
            throw error
        }
    }

    /// Opens a device or a pipe for writing. Returns nil if the path leads to a file, a folder or nothing. Throws for a pipe
    /// without a reader.
    private static func openDeviceOrPipe(at path: String) throws -> OpenFile? {
        do {
            // `O_NONBLOCK`: opening a pipe fails with `ENXIO` if it has no reader, instead of waiting for one. `O_NOCTTY`: a
            // terminal does not become the controlling terminal of the process.
            if try OpenFile(path, O_WRONLY | O_NONBLOCK | O_NOCTTY).isRegular { return nil }
        } catch let error as POSIXError where error.code != .ENXIO {
            // Nothing exists at the path, or it is a folder, or the user may not write to it. `write` reports it if it matters.
            return nil
        }
        // The device or pipe is opened again without `O_NONBLOCK`, so that writes wait until there is room.
        return try OpenFile(path, O_WRONLY | O_NOCTTY)
    }
}
