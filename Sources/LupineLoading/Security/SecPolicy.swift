// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import LupineTLS

/// The requirements that a chain of certificates has to satisfy. Policies with the same requirements are equal.
///
/// Immutable; may be used on any thread.
public final class SecPolicy: Sendable {
    let policy: TrustPolicy

    init(_ policy: TrustPolicy) { self.policy = policy }
}

extension SecPolicy: Hashable {
    public static func == (left: SecPolicy, right: SecPolicy) -> Bool { left.policy == right.policy }
    public func hash(into hasher: inout Hasher) { hasher.combine(policy) }
}

extension SecPolicy: CustomStringConvertible {
    /// Contains the requirements.
    public var description: String { "<SecPolicy \(policy)>" }
}

/// Creates the basic policy. It requires valid signatures up to an anchor, issuers that are certificate authorities, names that
/// the issuers permit, and valid dates (RFC 5280 §6).
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.basic) }

/// Creates the policy for TLS. In addition to the basic policy it requires sufficiently strong keys and signatures, the right key
/// usage, and the host name unless it is nil.
///
/// - Parameters:
///   - server: Whether the certificate is a server's; otherwise it is a client's.
///   - hostname: The name that the certificate must be for, in its ASCII form, or an IP literal with or without brackets; nil for
///     any name.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    let host = hostname.map { name -> String in
        let hasBrackets = name.hasPrefix("[") && name.hasSuffix("]")
        return hasBrackets ? String(name.dropFirst().dropLast()) : name
    }
    return SecPolicy(server ? .server(host: host) : .client(host: host))
}

/// Use OCSP responders.
public let kSecRevocationOCSPMethod: CFOptionFlags = RevocationOptions.ocsp.rawValue
/// Use certificate revocation lists.
public let kSecRevocationCRLMethod: CFOptionFlags = RevocationOptions.crl.rawValue
/// Prefer the revocation list if both methods are available.
public let kSecRevocationPreferCRL: CFOptionFlags = RevocationOptions.preferCRL.rawValue
/// Refuse the chain if the revocation status of any certificate except the anchor is unknown.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags =
    RevocationOptions.requirePositiveResponse.rawValue
/// Use only stapled, supplied and cached answers.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags =
    RevocationOptions.networkAccessDisabled.rawValue
/// Use any method that the certificate offers.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = RevocationOptions.any.rawValue

/// Creates a policy that requires that no certificate of the chain is revoked. The policy does not check the anchor, the host
/// name or the key usage.
///
/// - Parameter revocationFlags: A union of the `kSecRevocation` constants.
/// - Returns: The policy; nil when no flag is set, or an unknown one.
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    // `any` is OCSP and revocation lists.
    let supported: RevocationOptions = [.any, .preferCRL, .requirePositiveResponse, .networkAccessDisabled]
    let options = RevocationOptions(rawValue: revocationFlags)
    guard !options.isEmpty, supported.isSuperset(of: options) else { return nil }
    return SecPolicy(.revocation(options))
}
