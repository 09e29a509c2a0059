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
    /// Empties the queue: before a call whose failure is to be read from it.
    package static func clear() { ERR_clear_error() }

    /// Empties the queue and returns what stood in it, the root of the trouble first.
    package static func take() -> [OpenSSLFailure] {
        var failures: [OpenSSLFailure] = []
        while case let code = ERR_get_error(), code != 0 { failures.append(OpenSSLFailure(code: code)) }
        return failures
    }
}
