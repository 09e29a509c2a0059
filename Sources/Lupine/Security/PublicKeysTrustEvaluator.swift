// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Trusts a server when one of the keys of its chain is among those that the program brings along. A certificate that was
/// renewed with the same key goes on being trusted.
///
/// Keys are compared after the validations that are wanted have passed. `PublicKeyPinsTrustEvaluator` does the same for keys
/// that are known by their digests.
public final class PublicKeysTrustEvaluator: ServerTrustEvaluating {
    private let keys: [SecKey]
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// An evaluator of these keys.
    ///
    /// - Parameters:
    ///   - keys: Those that are pinned; by default the keys of the certificates of the main bundle, read here and now.
    ///   - performDefaultValidation: Whether the chain has to be valid.
    ///   - validateHost: Whether it has to be valid and to name the host.
    public init(
        keys: [SecKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) {
        self.keys = keys
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    /// Returns when one of the chain's keys is pinned; throws `AFError.serverTrustEvaluationFailed` when none is, when a
    /// validation fails, and when nothing is pinned.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        guard !keys.isEmpty else { throw AFError.serverTrustEvaluationFailed(reason: .noPublicKeysFound) }
        if performDefaultValidation { try trust.af.performDefaultValidation(forHost: host) }
        if validateHost { try trust.af.performValidation(forHost: host) }
        let presented = trust.af.publicKeys
        guard Set(keys).isDisjoint(with: presented) else { return trust.notePinned() }
        throw AFError.serverTrustEvaluationFailed(
            reason: .publicKeyPinningFailed(
                host: host, trust: trust, pinnedKeys: keys, serverKeys: presented))
    }
}

extension ServerTrustEvaluating where Self == PublicKeysTrustEvaluator {
    /// An evaluator of the keys in the main bundle.
    public static var publicKeys: PublicKeysTrustEvaluator { PublicKeysTrustEvaluator() }

    /// An evaluator of pinned keys.
    public static func publicKeys(
        keys: [SecKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) -> PublicKeysTrustEvaluator {
        PublicKeysTrustEvaluator(
            keys: keys, performDefaultValidation: performDefaultValidation, validateHost: validateHost)
    }
}
