// SPDX-License-Identifier: MIT

/// What a chain has to prove.
///
/// Every policy asks for a chain of fitting signatures that ends at an anchor, whose issuers may issue, whose names are
/// permitted and whose certificates are valid (RFC 5280 §6); the anchor itself is trusted as it is.
public enum TrustPolicy: Sendable, Hashable {
    /// No more than that.
    case basic
    /// Also: the leaf is for servers and for this host (RFC 9525) unless it is nil, keys and signatures are strong
    /// enough, a stapled "revoked" is heeded, and a leaf that demands a staple (RFC 7633) has one.
    case server(host: String?)
    /// The same for the other side: the leaf is for clients.
    case client(host: String?)
    /// Also: nobody has revoked a certificate of the chain; neither purpose nor name is looked at.
    case revocation(RevocationOptions)
}

/// How revocation is looked up. The raw values are those of `SecPolicyCreateRevocation`.
public struct RevocationOptions: OptionSet, Sendable, Hashable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Ask the responder that the certificate names (RFC 6960).
    public static let ocsp = RevocationOptions(rawValue: 1 << 0)
    /// Fetch the revocation list that the certificate names (RFC 5280 §5).
    public static let crl = RevocationOptions(rawValue: 1 << 1)
    /// Where both are possible, the list first.
    public static let preferCRL = RevocationOptions(rawValue: 1 << 2)
    /// Without a definite "good" for every certificate but the anchor, the chain is refused.
    public static let requirePositiveResponse = RevocationOptions(rawValue: 1 << 3)
    /// Only answers that were stapled, given or kept.
    public static let networkAccessDisabled = RevocationOptions(rawValue: 1 << 4)
    /// Whatever the certificate offers.
    public static let any: RevocationOptions = [.ocsp, .crl]
}
