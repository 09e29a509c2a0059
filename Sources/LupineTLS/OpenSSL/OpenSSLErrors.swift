// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// One entry of OpenSSL's error queue: where it failed and why, by its own numbers and words.
public struct OpenSSLFailure: Hashable, Sendable, CustomStringConvertible {
    /// Which part of OpenSSL, such as SSL or X509 (its `ERR_LIB_` numbers).
    public let library: Int32
    /// Which reason, numbered within that part.
    public let reason: Int32
    /// The reason as OpenSSL words it, such as "wrong version number".
    public let description: String

    /// A failure of these numbers and words.
    package init(library: Int32, reason: Int32, description: String) {
        self.library = library
        self.reason = reason
        self.description = description
    }

    init(code: UInt) {
        library = lupine_ERR_GET_LIB(code)
        reason = lupine_ERR_GET_REASON(code)
        // A static string of OpenSSL.
        let text = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) }
        description = text ?? "error \(code)"
    }

    /// Whether it is this reason of OpenSSL's SSL part.
    func isSSL(_ reason: Int32) -> Bool { library == ERR_LIB_SSL && self.reason == reason }
}

/// OpenSSL's error queue of the calling thread.
package enum OpenSSLErrors {
    /// Empties the queue: before a call whose failure is to be read from it. Nearly every way into OpenSSL begins here.
    package static func clear() {
        _ = OpenSSLLibrary.stays
        // Mostly it is empty, and looking is cheaper than clearing its sixteen places.
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// Empties the queue and returns what stood in it, the root of the trouble first.
    package static func take() -> [OpenSSLFailure] {
        var failures: [OpenSSLFailure] = []
        while case let code = ERR_get_error(), code != 0 { failures.append(OpenSSLFailure(code: code)) }
        return failures
    }

    /// Empties the queue and returns the words for the root of the trouble.
    static func reason() -> String { take().first?.description ?? "unknown reason" }

    /// Empties the queue after a decryption that failed: an algorithm that is not there, or else the wrong password.
    static func decryption(of input: CertificateInput) -> CertificateError {
        let failures = take()
        let missing = failures.first { failure in
            switch (failure.library, failure.reason) {
            case (ERR_LIB_EVP, EVP_R_UNSUPPORTED_ALGORITHM), (ERR_LIB_EVP, EVP_R_UNKNOWN_PBE_ALGORITHM),
                (ERR_LIB_EVP, EVP_R_UNSUPPORTED_CIPHER), (ERR_LIB_EVP, EVP_R_UNKNOWN_CIPHER),
                (ERR_LIB_PEM, PEM_R_UNSUPPORTED_ENCRYPTION), (ERR_LIB_EVP, lupine_ERR_R_UNSUPPORTED()):
                true
            default: false
            }
        }
        if let missing { return .unsupported(input, reason: missing.description) }
        return .wrongPassword(input)
    }
}
