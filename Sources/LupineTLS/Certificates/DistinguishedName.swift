// SPDX-License-Identifier: MIT

/// The name of a subject or an issuer (RFC 5280 §4.1.2.4), equal to another when its DER is.
public struct DistinguishedName: Sendable, CustomStringConvertible {
    /// Its DER.
    public let der: [UInt8]
    /// As RFC 4514 writes it: the last part first, control characters escaped.
    public let description: String
    /// The last common name; never compared with a host.
    public let commonName: String?
}

extension DistinguishedName: Hashable {
    public static func == (left: DistinguishedName, right: DistinguishedName) -> Bool {
        left.der == right.der
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(der) }
}
