// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc

/// A file that was opened, and what the kernel says of that very file: its name may be another's by now.
struct OpenFile: Sendable {
    /// Tells it from all other files, whatever names it has.
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let number: UInt64
    }

    /// Closes itself when nobody has it any more.
    let handle: FileHandle
    let identity: Identity
    /// Whether it is a file, and no device, pipe or folder.
    let isRegular: Bool
    let owner: uid_t
    /// Whether others than its owner can write to it.
    let othersMayWrite: Bool

    /// Opens a path with flags of `open`; a file that it makes has the rights of `mode`, as far as the user's mask leaves them.
    init(_ path: String, _ flags: Int32, mode: mode_t = 0o666) throws {
        var descriptor: Int32
        repeat {
            descriptor = unsafe open(path, flags | O_CLOEXEC, mode)
        } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else { throw Self.trouble }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Self.trouble }
        identity = Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
        isRegular = status.st_mode & S_IFMT == S_IFREG
        owner = status.st_uid
        othersMayWrite = status.st_mode & 0o022 != 0
    }

    private static var trouble: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
