// SPDX-License-Identifier: MIT

/// The name of a subject or an issuer (RFC 5280 §4.1.2.4). Names with the same DER are equal.
public struct DistinguishedName: Sendable, CustomStringConvertible {
    /// The DER.
    public let der: [UInt8]
    /// The string form of RFC 4514: the last RDN first, with control characters escaped.
    public let description: String
    /// The last common name; never compared with a host name.
    public let commonName: String?
}

extension DistinguishedName: Hashable {
    public static func == (left: DistinguishedName, right: DistinguishedName) -> Bool {
        left.der == right.der
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(der) }
}
