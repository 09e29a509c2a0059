// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL
internal import Glibc

/// The file to which the engines append the secrets of their connections, in the NSS key log format that traffic analyzers read.
///
/// It writes each line with a single `write` in append mode, so that lines of several threads and programs do not mix.
final class OpenSSLKeyLog: Sendable {
    private let descriptor: Int32

    /// Opens the file. If it does not exist, creates it with permissions for its owner only.
    init(path: String) throws(TLSError) {
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC
        let result = unsafe open(path, flags, mode_t(0o600))
        guard result >= 0 else {
            throw .configuration(.keyLog(path: path, errno: errno))
        }
        descriptor = result
    }

    deinit { _ = close(descriptor) }

    /// Appends a line that OpenSSL has formatted.
    func append(_ line: UnsafePointer<CChar>) {
        var bytes = unsafe [UInt8](String(cString: line).utf8)
        bytes.append(UInt8(ascii: "\n"))
        // The result is ignored: an error, such as a full disk, loses the line, but must not affect the connection.
        _ = unsafe bytes.withUnsafeBytes { raw in unsafe write(descriptor, raw.baseAddress, raw.count) }
    }
}
