// SPDX-License-Identifier: MIT

package import LupineTLS

/// The outcome of one TLS handshake at the origin.
package struct OriginHandshake: Sendable {
    /// The properties of the TLS session, or the error with which the handshake failed.
    package let outcome: Result<TLSInfo, TLSError>
    /// The server name that the client requested (SNI), if it was received.
    package let serverName: String?
    /// The verified certificate chain of the client, its own certificate first; empty if the client has sent none. A resumed
    /// session has the client's certificate of the original handshake.
    package let clientCertificates: [Certificate]
    /// The number of bytes of ciphertext that the origin had received by the end of the handshake.
    package let wireBytes: Int

    /// The error, if the handshake failed.
    package var failure: TLSError? {
        guard case .failure(let error) = outcome else { return nil }
        return error
    }

    /// The properties of the TLS session; nil if the handshake failed.
    package var info: TLSInfo? {
        guard case .success(let info) = outcome else { return nil }
        return info
    }
}
