// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc

/// An open file with its properties. `fstat` reads them from the open file. `stat` would read them by the path, which may lead to
/// another file in the meantime.
struct OpenFile: Sendable {
    /// Identifies a file regardless of its names.
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    /// The file handle, which closes the file on deinit.
    let handle: FileHandle
    let identity: Identity
    /// Whether the file is a regular file, not a device, pipe or folder.
    let isRegular: Bool
    /// The ID of the user who owns the file.
    let owner: uid_t
    /// Whether the file's group or all users have write permission.
    let isWritableByOthers: Bool

    /// Opens a file. Throws a `POSIXError` if `open(2)` or `fstat(2)` fails.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the file.
    ///   - flags: The flags of `open(2)`.
    ///   - mode: The permissions of a new file, which the umask reduces.
    init(_ path: String, _ flags: Int32, mode: mode_t = 0o666) throws {
        var descriptor: Int32
        repeat {
            descriptor = unsafe open(path, flags | O_CLOEXEC, mode)
        } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else { throw Self.lastError }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Self.lastError }
        identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        isRegular = status.st_mode & S_IFMT == S_IFREG
        owner = status.st_uid
        // The write permissions of the group and of all users.
        isWritableByOthers = status.st_mode & 0o022 != 0
    }

    private static var lastError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
