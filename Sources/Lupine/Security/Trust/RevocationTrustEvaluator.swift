// SPDX-License-Identifier: MIT

public import LupineLoading

/// Trusts a server whose certificates are valid and have not been revoked.
///
/// The evaluator first uses the OCSP response that the server has sent in the handshake. If that is not enough and the options do
/// not disable network access, it fetches other responses. Meanwhile it blocks the session's root queue, and so all requests of
/// the session.
public final class RevocationTrustEvaluator: ServerTrustEvaluating {
    /// Defines how revocation is checked.
    public struct Options: OptionSet, Sendable {
        /// Checks with OCSP.
        public static let ocsp = Options(rawValue: kSecRevocationOCSPMethod)
        /// Checks with certificate revocation lists.
        public static let crl = Options(rawValue: kSecRevocationCRLMethod)
        /// Prefers revocation lists to OCSP where both are available.
        public static let preferCRL = Options(rawValue: kSecRevocationPreferCRL)
        /// Refuses a certificate whose status is unknown.
        public static let requirePositiveResponse = Options(rawValue: kSecRevocationRequirePositiveResponse)
        /// Uses only responses from the handshake, or from the cache.
        public static let networkAccessDisabled = Options(rawValue: kSecRevocationNetworkAccessDisabled)
        /// Checks with any method that the certificate offers.
        public static let any = Options(rawValue: kSecRevocationUseAnyAvailableMethod)

        /// The options as bits.
        public let rawValue: CFOptionFlags

        /// Creates options from bits.
        public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }
    }

    private let performDefaultValidation: Bool
    private let validateHost: Bool
    private let options: Options

    /// Creates an evaluator that checks revocation, after the enabled validations.
    public init(
        performDefaultValidation: Bool = true, validateHost: Bool = true, options: Options = .any
    ) {
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
        self.options = options
    }

    /// Returns if the chain passes all checks. Throws `AFError.serverTrustEvaluationFailed` if a check fails, or if the options
    /// are empty.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        if performDefaultValidation { try trust.af.performDefaultValidation(forHost: host) }
        if validateHost { try trust.af.performValidation(forHost: host) }
        try trust.af.evaluate(afterApplying: SecPolicy.af.revocation(options: options))
    }
}

extension ServerTrustEvaluating where Self == RevocationTrustEvaluator {
    /// Returns an evaluator that checks revocation with any method that the certificate offers.
    public static var revocationChecking: RevocationTrustEvaluator { RevocationTrustEvaluator() }

    /// Returns an evaluator that checks revocation.
    public static func revocationChecking(
        performDefaultValidation: Bool = true, validateHost: Bool = true,
        options: RevocationTrustEvaluator.Options = .any
    ) -> RevocationTrustEvaluator {
        RevocationTrustEvaluator(
            performDefaultValidation: performDefaultValidation, validateHost: validateHost, options: options)
    }
}
