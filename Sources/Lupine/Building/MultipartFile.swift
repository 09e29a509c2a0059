// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// The file that a form is written into. It is made here and nowhere else: what is there already is left alone, also when
/// it comes between the check and the making.
///
/// Written with system calls: Foundation's output streams on Linux give no error when the file cannot be made, and stop
/// without one when the disk is full. Used by one thread at a time.
final class MultipartFile {
    private let url: URL
    private var descriptor: CInt

    /// Makes the file, for its owner only or for whom the process lets. Throws `multipartEncodingFailed`.
    convenience init(creating url: URL, isPrivate: Bool) throws {
        try self.init(
            opening: url, flags: O_CREAT | O_EXCL | (isPrivate ? O_NOFOLLOW : 0),
            mode: isPrivate ? 0o600 : 0o666)
    }

    /// Opens a file, with more flags. Throws `multipartEncodingFailed`.
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

    /// Writes all of `data`.
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

    /// Closes the file. Some file systems tell only then that a write failed.
    func close() throws {
        let status = Glibc.close(descriptor)
        descriptor = -1
        guard status == 0 || errno == EINTR else {
            throw AFError.multipartEncodingFailed(
                reason: .outputStreamWriteFailed(error: Self.error(errno)))
        }
    }

    /// Takes the file away again.
    func remove() { unsafe unlink(url.path) }

    private static func error(_ code: CInt) -> any Error {
        POSIXErrorCode(rawValue: code).map { POSIXError($0) } ?? CocoaError(.fileWriteUnknown)
    }
}
