// SPDX-License-Identifier: MIT

public import LupineLoading

/// Trusts a server whose certificates are valid and have not been revoked.
///
/// What the server has stapled counts first. Unless the options forbid the network, the rest is fetched, and the session's
/// root queue waits for it: every request of the session does.
public final class RevocationTrustEvaluator: ServerTrustEvaluating {
    /// How revocation is looked up.
    public struct Options: OptionSet, Sendable {
        /// By OCSP.
        public static let ocsp = Options(rawValue: kSecRevocationOCSPMethod)
        /// By lists.
        public static let crl = Options(rawValue: kSecRevocationCRLMethod)
        /// By lists first, where both are possible.
        public static let preferCRL = Options(rawValue: kSecRevocationPreferCRL)
        /// A certificate of which nothing is known is refused.
        public static let requirePositiveResponse = Options(rawValue: kSecRevocationRequirePositiveResponse)
        /// Only by what came with the handshake, or is known already.
        public static let networkAccessDisabled = Options(rawValue: kSecRevocationNetworkAccessDisabled)
        /// By whichever way the certificate offers.
        public static let any = Options(rawValue: kSecRevocationUseAnyAvailableMethod)

        /// The options as bits.
        public let rawValue: CFOptionFlags

        /// Options of those bits.
        public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }
    }

    private let performDefaultValidation: Bool
    private let validateHost: Bool
    private let options: Options

    /// An evaluator that looks revocation up so, behind those of the two validations that are wanted.
    public init(
        performDefaultValidation: Bool = true, validateHost: Bool = true, options: Options = .any
    ) {
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
        self.options = options
    }

    /// Returns when nothing speaks against the chain; throws `AFError.serverTrustEvaluationFailed` when something does, and
    /// when the options are none.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        if performDefaultValidation { try trust.af.performDefaultValidation(forHost: host) }
        if validateHost { try trust.af.performValidation(forHost: host) }
        try trust.af.evaluate(afterApplying: SecPolicy.af.revocation(options: options))
    }
}

extension ServerTrustEvaluating where Self == RevocationTrustEvaluator {
    /// An evaluator of revocation, by whichever way the certificate offers.
    public static var revocationChecking: RevocationTrustEvaluator { RevocationTrustEvaluator() }

    /// An evaluator of revocation.
    public static func revocationChecking(
        performDefaultValidation: Bool = true, validateHost: Bool = true,
        options: RevocationTrustEvaluator.Options = .any
    ) -> RevocationTrustEvaluator {
        RevocationTrustEvaluator(
            performDefaultValidation: performDefaultValidation, validateHost: validateHost, options: options)
    }
}
