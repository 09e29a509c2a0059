// SPDX-License-Identifier: MIT

/// A public key, equal to another when algorithm and value are: their SubjectPublicKeyInfo (RFC 5280 §4.1.2.7).
public struct PublicKey: Sendable, Hashable {
    /// The DER of its SubjectPublicKeyInfo.
    public let subjectPublicKeyInfo: [UInt8]
}
