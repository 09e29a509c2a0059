// SPDX-License-Identifier: MIT

/// The requirements that a chain has to meet.
///
/// Every policy requires a chain of valid signatures that ends at an anchor (a trusted certificate). Its issuers have to be
/// authorities, its names permitted, and its certificates within their validity (RFC 5280 §6). The anchor itself is trusted
/// without checks.
public enum TrustPolicy: Sendable, Hashable {
    /// No further requirements.
    case basic
    /// In addition to the common requirements, the leaf is for servers and, unless `host` is nil, valid for that host (RFC 9525).
    /// Keys and signatures are strong enough. A stapled OCSP response does not say "revoked", and a leaf that requires a response
    /// (RFC 7633) has one.
    case server(host: String?)
    /// Like `server`, except that the leaf is for clients, and a stapled response is neither required nor checked.
    case client(host: String?)
    /// In addition to the common requirements, no certificate of the chain is revoked. Neither key usage nor name is checked.
    case revocation(RevocationOptions)
}

/// How revocation is checked. The raw values are those of `SecPolicyCreateRevocation`.
public struct RevocationOptions: OptionSet, Sendable, Hashable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Query the OCSP responder that the certificate names (RFC 6960).
    public static let ocsp = RevocationOptions(rawValue: 1 << 0)
    /// Fetch the revocation list that the certificate names (RFC 5280 §5).
    public static let crl = RevocationOptions(rawValue: 1 << 1)
    /// Prefer the list if both methods are possible.
    public static let preferCRL = RevocationOptions(rawValue: 1 << 2)
    /// Refuse the chain unless there is a definite "good" for every certificate except the anchor.
    public static let requirePositiveResponse = RevocationOptions(rawValue: 1 << 3)
    /// Use only stapled, supplied and cached answers.
    public static let networkAccessDisabled = RevocationOptions(rawValue: 1 << 4)
    /// Use any method that the certificate offers.
    public static let any: RevocationOptions = [.ocsp, .crl]
}
