// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// The file that a multipart form is written into. It is always a new file: an existing file is never overwritten, even if it was
/// created after the caller's check (`O_EXCL`).
///
/// The file is written with system calls. Foundation's output streams on Linux report no error if the file cannot be created or
/// if the disk is full. Used by one thread at a time.
final class MultipartFile {
    private let url: URL
    /// The file descriptor; negative after `close`.
    private var descriptor: CInt

    /// Creates the file. If `isPrivate` is true, only its owner can read and write it; otherwise the process's umask determines
    /// its permissions. Throws `multipartEncodingFailed` if the file exists or cannot be created.
    convenience init(creating url: URL, isPrivate: Bool) throws {
        try self.init(
            opening: url, flags: O_CREAT | O_EXCL | (isPrivate ? O_NOFOLLOW : 0),
            mode: isPrivate ? 0o600 : 0o666)
    }

    /// Opens a file for writing. `flags` and `mode` are arguments of `open(2)`. Throws `multipartEncodingFailed` if that fails.
    init(opening url: URL, flags: CInt, mode: mode_t = 0o666) throws {
        self.url = url
        // A path with a zero byte would be truncated there.
        guard !url.path.isEmpty, !url.path.utf8.contains(0) else {
            throw AFError.multipartEncodingFailed(reason: .outputStreamCreationFailed(for: url))
        }
        descriptor = unsafe Glibc.open(url.path, O_WRONLY | O_CLOEXEC | flags, mode)
        guard descriptor >= 0 else {
            let code = errno
            throw AFError.multipartEncodingFailed(
                reason: code == EEXIST
                    ? .outputStreamFileAlreadyExists(at: url)
                    : .outputStreamWriteFailed(error: Self.error(code)))
        }
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    /// Writes all of `data`. If the system call writes no byte, throws an I/O error, because repeating the call might never end.
    func write(_ data: Data) throws {
        try unsafe data.withUnsafeBytes { bytes in
            var writtenCount = 0
            while writtenCount < bytes.count {
                let count = unsafe Glibc.write(
                    descriptor, bytes.baseAddress.map { unsafe $0 + writtenCount },
                    bytes.count - writtenCount)
                if count > 0 {
                    writtenCount += count
                } else if count == 0 || errno != EINTR {
                    throw AFError.multipartEncodingFailed(
                        reason: .outputStreamWriteFailed(error: Self.error(count == 0 ? EIO : errno)))
                }
            }
        }
    }

    /// Closes the file. Throws because some file systems report a failed write only here.
    func close() throws {
        let status = Glibc.close(descriptor)
        // On Linux the descriptor is closed even if `close` fails or is interrupted.
        descriptor = -1
        guard status == 0 || errno == EINTR else {
            throw AFError.multipartEncodingFailed(
                reason: .outputStreamWriteFailed(error: Self.error(errno)))
        }
    }

    /// Deletes the file.
    func remove() { unsafe unlink(url.path) }

    /// Returns the error for a value of `errno`.
    private static func error(_ code: CInt) -> any Error {
        POSIXErrorCode(rawValue: code).map { POSIXError($0) } ?? CocoaError(.fileWriteUnknown)
    }
}
