// SPDX-License-Identifier: MIT

/// The algorithm and strength of a key.
public enum KeyType: Sendable, Hashable, CustomStringConvertible {
    /// RSA, whether for any padding or for PSS only.
    case rsa(bits: Int)
    /// An elliptic curve, with OpenSSL's name, such as `prime256v1`, and the bit length of its order.
    case ec(curve: String, bits: Int)
    /// Edwards curve 25519 (RFC 8410).
    case ed25519
    /// Edwards curve 448.
    case ed448
    /// Another algorithm, with its name or object identifier.
    case other(String)

    public var description: String {
        switch self {
        case .rsa(let bits): "RSA \(bits)"
        case .ec(let curve, let bits): "EC \(curve) (\(bits) bits)"
        case .ed25519: "Ed25519"
        case .ed448: "Ed448"
        case .other(let name): name
        }
    }
}
