// SPDX-License-Identifier: MIT

internal import LupineTLS

/// A public key of a certificate or a PEM text, for comparison with other keys. Keys with the same algorithm and value are equal.
///
/// Immutable; may be used on any thread.
public final class SecKey: Sendable {
    let key: PublicKey

    init(_ key: PublicKey) { self.key = key }

    /// Creates the key of a certificate. Fails unless it is an RSA, elliptic curve, or Ed25519 key.
    convenience init?(of certificate: Certificate) {
        guard let key = certificate.publicKey else { return nil }
        switch key.type {
        case .rsa, .ec, .ed25519: self.init(key)
        case .ed448, .other: return nil
        }
    }
}

extension SecKey: Hashable {
    public static func == (left: SecKey, right: SecKey) -> Bool { left.key == right.key }
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension SecKey: CustomStringConvertible {
    /// Contains the algorithm and strength.
    public var description: String { "<SecKey \(key.type)>" }
}
