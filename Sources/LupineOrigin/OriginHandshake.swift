// SPDX-License-Identifier: MIT

package import LupineTLS

/// How one handshake ended, as the origin saw it.
package struct OriginHandshake: Sendable {
    /// The negotiated parameters, or the error.
    package let outcome: Result<TLSInfo, TLSError>
    /// The server name (SNI) that the client sent, if its ClientHello was received.
    package let serverName: String?
    /// The client's accepted certificate chain, its own certificate first; resumed sessions keep it.
    package let clientCertificates: [Certificate]
    /// The number of ciphertext bytes received from the client by then.
    package let wireBytes: Int

    /// The error; nil if the handshake succeeded.
    package var failure: TLSError? {
        guard case .failure(let error) = outcome else { return nil }
        return error
    }

    /// The negotiated parameters; nil if the handshake failed.
    package var info: TLSInfo? {
        guard case .success(let info) = outcome else { return nil }
        return info
    }
}
