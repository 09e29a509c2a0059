// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Trusts a server if a key of its chain is among the pinned ones. A certificate that was renewed with the same key remains
/// trusted.
///
/// Keys are compared after the enabled validations have passed. `PublicKeyPinsTrustEvaluator` does the same for keys of which
/// only the digests are known.
public final class PublicKeysTrustEvaluator: ServerTrustEvaluating {
    private let keys: [SecKey]
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// Creates an evaluator of pinned keys.
    ///
    /// - Parameters:
    ///   - keys: The pinned keys; by default those of the certificates in the main bundle, read by this call.
    ///   - performDefaultValidation: Whether the chain has to be valid, for any host.
    ///   - validateHost: Whether the chain has to be valid for the host that is evaluated.
    public init(
        keys: [SecKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) {
        self.keys = keys
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    /// Returns if a key of the chain is pinned. Throws `AFError.serverTrustEvaluationFailed` if none is, if a validation fails,
    /// or if there are no pinned keys.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        guard !keys.isEmpty else { throw AFError.serverTrustEvaluationFailed(reason: .noPublicKeysFound) }
        if performDefaultValidation { try trust.af.performDefaultValidation(forHost: host) }
        if validateHost { try trust.af.performValidation(forHost: host) }
        let presentedKeys = trust.af.publicKeys
        let isPinned = !Set(keys).isDisjoint(with: presentedKeys)
        // `recordPinMatch` records that the trust was checked, even if both validations are disabled.
        if isPinned { return trust.recordPinMatch() }
        throw AFError.serverTrustEvaluationFailed(
            reason: .publicKeyPinningFailed(
                host: host, trust: trust, pinnedKeys: keys, serverKeys: presentedKeys))
    }
}

extension ServerTrustEvaluating where Self == PublicKeysTrustEvaluator {
    /// Returns an evaluator of the keys in the main bundle.
    public static var publicKeys: PublicKeysTrustEvaluator { PublicKeysTrustEvaluator() }

    /// Returns an evaluator of pinned keys.
    public static func publicKeys(
        keys: [SecKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) -> PublicKeysTrustEvaluator {
        PublicKeysTrustEvaluator(
            keys: keys, performDefaultValidation: performDefaultValidation, validateHost: validateHost)
    }
}
