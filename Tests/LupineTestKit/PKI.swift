// SPDX-License-Identifier: MIT

import Glibc

/// The certificates, keys and OCSP responses of the tests: the files below `Tests/Fixtures/PKI`.
///
/// `Scripts/fixtures` makes them; the `README.md` beside them describes each one and its expected verdict. A file is named by its
/// path from that folder: `good-chain.pem`, `ocsp/revoked.der`. None of the keys is secret.
package enum PKI {
    /// A file that could not be read: its path and the error number.
    package struct Failure: Error {
        /// The path of the file.
        package let path: String
        /// The error number of the call that failed.
        package let code: Int32
    }

    /// The password of every file that has one, unless its name says otherwise.
    package static let password = "lupine"

    /// The folder of the files, without a slash at its end.
    package static let folder = repository + "/Tests/Fixtures/PKI"

    /// The folder of trusted roots, with the hashed names that OpenSSL requires in `SSL_CERT_DIR`.
    package static let roots = path("roots")

    private static let repository = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(3).joined(separator: "/")

    /// Returns the absolute path of a file.
    package static func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Returns the contents of a file.
    package static func bytes(_ name: String) throws(Failure) -> [UInt8] {
        let path = path(name)
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Failure(path: path, code: errno) }
        defer { close(file) }
        var contents: [UInt8] = []
        while true {
            var failure: Int32 = 0
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
                let result = unsafe read(file, buffer.baseAddress, buffer.count)
                failure = result < 0 ? errno : 0
                count = max(0, result)
            }
            if failure == EINTR { continue }
            guard failure == 0 else { throw Failure(path: path, code: failure) }
            if piece.isEmpty { return contents }
            contents += piece
        }
    }

    /// Returns the contents of a file as text (PEM).
    package static func text(_ name: String) throws(Failure) -> String {
        String(decoding: try bytes(name), as: UTF8.self)
    }
}
