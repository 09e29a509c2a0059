// SPDX-License-Identifier: MIT

package import LupineTLS

/// How one handshake ended, as the origin saw it.
package struct OriginHandshake: Sendable {
    /// What it came to, or why it came to nothing.
    package let outcome: Result<TLSInfo, TLSError>
    /// The name that the client asked for, if it came so far.
    package let serverName: String?
    /// What the client showed of itself and was accepted for, its own certificate first; resumed connections remember it.
    package let clientCertificates: [Certificate]
    /// All bytes that had come from the client by then, as they were on the wire.
    package let wireBytes: Int

    /// Why it failed; nil if it did not.
    package var failure: TLSError? {
        guard case .failure(let error) = outcome else { return nil }
        return error
    }

    /// What it came to; nil if it failed.
    package var info: TLSInfo? {
        guard case .success(let info) = outcome else { return nil }
        return info
    }
}
