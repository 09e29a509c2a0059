// SPDX-License-Identifier: MIT

internal import LupineTLS

/// A public key, equal to another when algorithm and value are.
///
/// Immutable, and any thread's. It comes from a certificate, and is compared; nothing is encrypted with it here.
public final class SecKey: Sendable {
    let key: PublicKey

    init(_ key: PublicKey) { self.key = key }

    /// The key, if it is of a kind that is handed out: RSA, of an elliptic curve, or Ed25519.
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
    /// The algorithm and strength.
    public var description: String { "<SecKey \(key.type)>" }
}
