// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import LupineTLS

/// What a chain has to prove to be trusted; equal to another that asks for the same.
///
/// Immutable, and any thread's.
public final class SecPolicy: Sendable {
    let policy: TrustPolicy

    init(_ policy: TrustPolicy) { self.policy = policy }
}

extension SecPolicy: Hashable {
    public static func == (left: SecPolicy, right: SecPolicy) -> Bool { left.policy == right.policy }
    public func hash(into hasher: inout Hasher) { hasher.combine(policy) }
}

extension SecPolicy: CustomStringConvertible {
    /// What is asked for.
    public var description: String { "<SecPolicy \(policy)>" }
}

/// Asks for fitting signatures up to an anchor, issuers that may issue, permitted names and valid dates (RFC 5280 §6).
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.basic) }

/// Asks for the same, for keys and signatures that are strong enough, for the right use, and for the host unless it is nil.
///
/// - Parameters:
///   - server: Whether the certificate is a server's; else a client's.
///   - hostname: A name, or an IP literal with or without brackets. Names outside of ASCII have to be in their ASCII form.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    let host = hostname.map { name -> String in
        let isAddress = name.hasPrefix("[") && name.hasSuffix("]")
        return isAddress ? String(name.dropFirst().dropLast()) : name
    }
    return SecPolicy(server ? .server(host: host) : .client(host: host))
}

/// The method of `SecPolicyCreateRevocation` that asks OCSP responders.
public let kSecRevocationOCSPMethod: CFOptionFlags = RevocationOptions.ocsp.rawValue
/// The method of `SecPolicyCreateRevocation` that looks into revocation lists.
public let kSecRevocationCRLMethod: CFOptionFlags = RevocationOptions.crl.rawValue
/// Where both are possible, the list is looked into first.
public let kSecRevocationPreferCRL: CFOptionFlags = RevocationOptions.preferCRL.rawValue
/// Without a definite answer for every certificate but the anchor the chain is refused.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags =
    RevocationOptions.requirePositiveResponse.rawValue
/// Only answers that were stapled, given or kept.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags =
    RevocationOptions.networkAccessDisabled.rawValue
/// Whatever the certificate offers.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = RevocationOptions.any.rawValue

/// Asks that no certificate of the chain but its anchor was revoked. Neither name nor use is looked at.
///
/// - Parameter revocationFlags: A union of `kSecRevocationOCSPMethod` and its kin.
/// - Returns: Nil when no flag is set, or one that has no meaning.
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    let known: RevocationOptions = [.any, .preferCRL, .requirePositiveResponse, .networkAccessDisabled]
    let options = RevocationOptions(rawValue: revocationFlags)
    guard !options.isEmpty, known.isSuperset(of: options) else { return nil }
    return SecPolicy(.revocation(options))
}
