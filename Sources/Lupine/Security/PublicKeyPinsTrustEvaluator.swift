// SPDX-License-Identifier: MIT

public import LupineLoading

/// Trusts a server if a key of its chain matches one of the pins.
///
/// A pin is `sha256/` followed by the BASE64 of the SHA-256 digest of the key's SubjectPublicKeyInfo (RFC 7469 §2.4). Browsers,
/// curl and other clients use the same form.
///
/// If no key matches, the evaluator throws a `PinningReport`. The request wraps it in
/// `serverTrustEvaluationFailed(.customEvaluationFailed)`, from which `AFError.pinningReport` returns it.
public final class PublicKeyPinsTrustEvaluator: ServerTrustEvaluating {
    /// The pins, each in the canonical form of `SecKey.pin`.
    public let pins: Set<String>
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// Creates an evaluator of pins.
    ///
    /// - Parameters:
    ///   - pins: `sha256/BASE64`, or `sha256//BASE64` as curl writes it.
    ///   - performDefaultValidation: Whether the chain has to be valid, for any host.
    ///   - validateHost: Whether the chain has to be valid for the host that is evaluated.
    /// - Throws: `CertificateError` if a pin is malformed. A mistyped pin would otherwise fail every request for no clear reason.
    public init(
        pins: some Sequence<String>, performDefaultValidation: Bool = true, validateHost: Bool = true
    ) throws {
        self.pins = Set(try pins.map { try SecKey.pin($0) })
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    /// Returns if a key of the chain matches a pin. Throws `PinningReport` if none does, and
    /// `AFError.serverTrustEvaluationFailed` if a validation fails or there are no pins.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        guard !pins.isEmpty else { throw AFError.serverTrustEvaluationFailed(reason: .noPublicKeysFound) }
        if performDefaultValidation { try trust.af.performDefaultValidation(forHost: host) }
        if validateHost { try trust.af.performValidation(forHost: host) }
        let presentedCertificates = trust.af.certificates
        let isPinned = !pins.isDisjoint(with: presentedCertificates.af.publicKeys.map(\.pin))
        // `recordPinMatch` records that the trust was checked, even if both validations are disabled.
        if isPinned { return trust.recordPinMatch() }
        throw PinningReport(host: host, expected: pins.sorted(), certificates: presentedCertificates)
    }
}

extension ServerTrustEvaluating where Self == PublicKeyPinsTrustEvaluator {
    /// Returns an evaluator of pins of the form `sha256/BASE64`. Throws if one of them is malformed.
    public static func publicKeyPins(
        _ pins: some Sequence<String>, performDefaultValidation: Bool = true, validateHost: Bool = true
    ) throws -> PublicKeyPinsTrustEvaluator {
        try PublicKeyPinsTrustEvaluator(
            pins: pins, performDefaultValidation: performDefaultValidation, validateHost: validateHost)
    }
}
