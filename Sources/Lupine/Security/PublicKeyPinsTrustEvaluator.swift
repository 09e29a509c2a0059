// SPDX-License-Identifier: MIT

public import LupineLoading

/// Trusts a server when one of the keys of its chain has one of these pins: `sha256/` and the BASE64 of the SHA-256 of the
/// key's SubjectPublicKeyInfo, as browsers, curl and other clients write them (RFC 7469 §2.4).
///
/// When none has, it throws a `PinningReport`, which the request carries inside of
/// `serverTrustEvaluationFailed(.customEvaluationFailed)`; `AFError.pinningReport` finds it there.
public final class PublicKeyPinsTrustEvaluator: ServerTrustEvaluating {
    /// The pins, each in the one form that `SecKey.pin` has.
    public let pins: Set<String>
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// An evaluator of these pins.
    ///
    /// - Parameters:
    ///   - pins: `sha256/BASE64`, or `sha256//BASE64` as curl has it.
    ///   - performDefaultValidation: Whether the chain has to be valid.
    ///   - validateHost: Whether it has to be valid and to name the host.
    /// - Throws: `CertificateError` when one is no pin: it could never match, and nobody would know why.
    public init(
        pins: some Sequence<String>, performDefaultValidation: Bool = true, validateHost: Bool = true
    ) throws {
        self.pins = Set(try pins.map { try SecKey.pin($0) })
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    /// Returns when one of the chain's keys has one of the pins; throws `PinningReport` when none has, and
    /// `AFError.serverTrustEvaluationFailed` when a validation fails or there are no pins.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        guard !pins.isEmpty else { throw AFError.serverTrustEvaluationFailed(reason: .noPublicKeysFound) }
        if performDefaultValidation { try trust.af.performDefaultValidation(forHost: host) }
        if validateHost { try trust.af.performValidation(forHost: host) }
        let presented = trust.af.certificates
        guard pins.isDisjoint(with: presented.af.publicKeys.map(\.pin)) else { return trust.notePinned() }
        throw PinningReport(host: host, expected: pins.sorted(), certificates: presented)
    }
}

extension ServerTrustEvaluating where Self == PublicKeyPinsTrustEvaluator {
    /// An evaluator of pins `sha256/BASE64`. Throws when one of them is none.
    public static func publicKeyPins(
        _ pins: some Sequence<String>, performDefaultValidation: Bool = true, validateHost: Bool = true
    ) throws -> PublicKeyPinsTrustEvaluator {
        try PublicKeyPinsTrustEvaluator(
            pins: pins, performDefaultValidation: performDefaultValidation, validateHost: validateHost)
    }
}
