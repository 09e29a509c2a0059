// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

extension SecTrust: AlamofireExtended {}

/// Operations for trust evaluators. They may be called on any thread. An evaluation under a policy that checks revocation blocks
/// its thread while it fetches revocation responses; other evaluations do not use the network.
extension AlamofireExtension where ExtendedType == SecTrust {
    /// Replaces the trust's policies with `policy` and evaluates the trust.
    public func evaluate(afterApplying policy: SecPolicy) throws {
        try apply(policy: policy).af.evaluate()
    }

    /// Replaces the trust's policies with `policy` and evaluates the trust like `validate(errorProducer:)`.
    ///
    /// - Throws: The error that `errorProducer` returns for a status or a result that is not a success.
    public func validate(
        policy: SecPolicy, errorProducer: (_ status: OSStatus, _ result: SecTrustResultType) -> any Error
    ) throws {
        try apply(policy: policy).af.validate(errorProducer: errorProducer)
    }

    /// Replaces the trust's policies with `policy`. Returns the same trust.
    @discardableResult
    public func apply(policy: SecPolicy) throws -> SecTrust { try apply(policy, by: SecTrustSetPolicies) }

    /// Applies the policy with `setPolicies`; tests pass a function that fails. Throws for a status that is not a success.
    func apply(_ policy: SecPolicy, by setPolicies: (SecTrust, CFTypeRef) -> OSStatus) throws -> SecTrust {
        let status = setPolicies(type, policy)
        guard status.af.isSuccess else {
            throw AFError.serverTrustEvaluationFailed(
                reason: .policyApplicationFailed(trust: type, policy: policy, status: status))
        }
        return type
    }

    /// Evaluates the trust under its policies.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `trustEvaluationFailed`.
    public func evaluate() throws {
        var error: CFError?
        guard SecTrustEvaluateWithError(type, &error) else {
            throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: error))
        }
    }

    /// Evaluates the trust as Alamofire did with `SecTrustEvaluate`: both the status and the result have to be a success.
    ///
    /// - Throws: The error that `errorProducer` returns for a status or a result that is not a success.
    public func validate(
        errorProducer: (_ status: OSStatus, _ result: SecTrustResultType) -> any Error
    ) throws {
        var result = SecTrustResultType.invalid
        // The trust stores the outcome. `SecTrustGetTrustResult` reads it.
        _ = SecTrustEvaluateWithError(type, nil)
        let status = SecTrustGetTrustResult(type, &result)
        guard status.af.isSuccess, result.af.isSuccess else { throw errorProducer(status, result) }
    }

    /// Makes `certificates` the only anchors.
    public func setAnchorCertificates(_ certificates: [SecCertificate]) throws {
        try setAnchorCertificates(
            certificates, by: SecTrustSetAnchorCertificates, only: SecTrustSetAnchorCertificatesOnly)
    }

    /// Sets the anchors with `setAnchors`, and makes them the only ones with `setAnchorsOnly`. Throws for a status that is not a
    /// success.
    func setAnchorCertificates(
        _ certificates: [SecCertificate], by setAnchors: (SecTrust, CFArray?) -> OSStatus,
        only setAnchorsOnly: (SecTrust, Bool) -> OSStatus
    ) throws {
        var status = setAnchors(type, certificates)
        if status.af.isSuccess { status = setAnchorsOnly(type, true) }
        guard status.af.isSuccess else {
            throw AFError.serverTrustEvaluationFailed(
                reason: .settingAnchorCertificatesFailed(status: status, certificates: certificates))
        }
    }

    /// The chain that was built: the leaf, then every issuer that could be linked to it.
    public var certificates: [SecCertificate] {
        SecTrustCopyCertificateChain(type) as? [SecCertificate] ?? []
    }

    /// The chain's certificates in DER.
    public var certificateData: [Data] { certificates.af.data }

    /// The public keys of the chain.
    public var publicKeys: [SecKey] { certificates.af.publicKeys }

    /// Evaluates whether the chain is valid for a server. The host is not checked.
    public func performDefaultValidation(forHost host: String) throws {
        try evaluate(afterApplying: SecPolicy.af.default)
    }

    /// Evaluates whether the chain is valid for a server, and for this host.
    public func performValidation(forHost host: String) throws {
        try evaluate(afterApplying: SecPolicy.af.hostname(host))
    }
}
