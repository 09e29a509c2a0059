// SPDX-License-Identifier: MIT

package import LupineTLS

/// The outcome of one TLS handshake at the origin.
package struct OriginHandshake: Sendable {
    /// The properties of the TLS session, or why the handshake failed.
    package let outcome: Result<TLSInfo, TLSError>
    /// The server name that the client requested (SNI), if it was received.
    package let serverName: String?
    /// The verified certificate chain of the client, its own certificate first; also set for a resumed session.
    package let clientCertificates: [Certificate]
    /// The number of bytes on the wire that the client had sent by the end of the handshake.
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
