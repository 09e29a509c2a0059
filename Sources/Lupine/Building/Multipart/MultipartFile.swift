// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// The file that a form is written into. It is always created anew: an existing file is never overwritten, even when it
/// appears after the caller's check (`O_EXCL`).
///
/// Written with system calls, because Foundation's output streams on Linux give no error when the file cannot be created,
/// and stop without one when the disk is full. Used by one thread at a time.
final class MultipartFile {
    private let url: URL
    private var descriptor: CInt

    /// Creates the file, accessible to its owner only or with the permissions of the process's umask. Throws
    /// `multipartEncodingFailed`.
    convenience init(creating url: URL, isPrivate: Bool) throws {
        try self.init(
            opening: url, flags: O_CREAT | O_EXCL | (isPrivate ? O_NOFOLLOW : 0),
            mode: isPrivate ? 0o600 : 0o666)
    }

    /// Opens a file for writing with additional flags. Throws `multipartEncodingFailed`.
    init(opening url: URL, flags: CInt, mode: mode_t = 0o666) throws {
        self.url = url
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

    /// Writes all of `data`. A call that writes nothing counts as an I/O error, because repeating it may never end.
    func write(_ data: Data) throws {
        try unsafe data.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = unsafe Glibc.write(
                    descriptor, bytes.baseAddress.map { unsafe $0 + written }, bytes.count - written)
                if count > 0 {
                    written += count
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

    private static func error(_ code: CInt) -> any Error {
        POSIXErrorCode(rawValue: code).map { POSIXError($0) } ?? CocoaError(.fileWriteUnknown)
    }
}
