// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// One entry of OpenSSL's error queue: the numbers of the library and the reason, with OpenSSL's description.
public struct OpenSSLFailure: Hashable, Sendable, CustomStringConvertible {
    /// The library number, such as SSL or X509 (`ERR_LIB_`).
    public let library: Int32
    /// The reason number within that library.
    public let reason: Int32
    /// OpenSSL's text for the reason, such as "wrong version number".
    public let description: String

    /// Creates a failure with these numbers and description.
    package init(library: Int32, reason: Int32, description: String) {
        self.library = library
        self.reason = reason
        self.description = description
    }

    /// Creates a failure from an error code of the queue, which contains the numbers of the library and of the reason.
    init(code: UInt) {
        library = lupine_ERR_GET_LIB(code)
        reason = lupine_ERR_GET_REASON(code)
        // OpenSSL returns a static string, which the caller must not free.
        let text = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) }
        description = text ?? "error \(code)"
    }

    /// Whether the failure is that of OpenSSL's SSL library with this reason number.
    func isSSL(_ reason: Int32) -> Bool { library == ERR_LIB_SSL && self.reason == reason }
}

/// The calling thread's OpenSSL error queue.
package enum OpenSSLErrors {
    /// Empties the queue, so that it contains only the failures of the next call. Nearly every use of OpenSSL begins with a call
    /// of this function.
    package static func clear() {
        // The first access in the process initializes OpenSSL.
        _ = OpenSSLLibrary.isInitialized
        // Usually the queue is empty. Checking that is faster than clearing its sixteen entries.
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// Empties the queue and returns its entries, the root cause first.
    package static func takeFailures() -> [OpenSSLFailure] {
        var failures: [OpenSSLFailure] = []
        while case let code = ERR_get_error(), code != 0 { failures.append(OpenSSLFailure(code: code)) }
        return failures
    }

    /// Empties the queue and returns the description of the root cause.
    static func takeReason() -> String { takeFailures().first?.description ?? "unknown reason" }

    /// Empties the queue after a failed decryption, and returns its error: `unsupported` if OpenSSL lacks the algorithm,
    /// otherwise `wrongPassword`.
    static func decryptionError(of input: CertificateInput) -> CertificateError {
        let failures = takeFailures()
        let unsupportedFailure = failures.first { failure in
            switch (failure.library, failure.reason) {
            case (ERR_LIB_EVP, EVP_R_UNSUPPORTED_ALGORITHM), (ERR_LIB_EVP, EVP_R_UNKNOWN_PBE_ALGORITHM),
                (ERR_LIB_EVP, EVP_R_UNSUPPORTED_CIPHER), (ERR_LIB_EVP, EVP_R_UNKNOWN_CIPHER),
                (ERR_LIB_PEM, PEM_R_UNSUPPORTED_ENCRYPTION), (ERR_LIB_EVP, lupine_ERR_R_UNSUPPORTED()):
                true
            default: false
            }
        }
        if let unsupportedFailure { return .unsupported(input, reason: unsupportedFailure.description) }
        return .wrongPassword(input)
    }
}
