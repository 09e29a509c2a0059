// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

extension SecTrust: AlamofireExtended {}

/// What evaluators are built of. All of it may be called on any thread; evaluating blocks while answers about revocation are
/// fetched, which only happens under a policy that asks for them.
extension AlamofireExtension where ExtendedType == SecTrust {
    /// Puts `policy` in the place of the trust's policies, and judges.
    public func evaluate(afterApplying policy: SecPolicy) throws {
        try apply(policy: policy).af.evaluate()
    }

    /// Puts `policy` in the place of the trust's policies, and judges as the older functions do.
    ///
    /// - Throws: What `errorProducer` makes of a status or a result that is no success.
    public func validate(
        policy: SecPolicy, errorProducer: (_ status: OSStatus, _ result: SecTrustResultType) -> any Error
    ) throws {
        try apply(policy: policy).af.validate(errorProducer: errorProducer)
    }

    /// Puts `policy` in the place of the trust's policies. Gives the same trust.
    @discardableResult
    public func apply(policy: SecPolicy) throws -> SecTrust { try apply(policy, by: SecTrustSetPolicies) }

    func apply(_ policy: SecPolicy, by set: (SecTrust, CFTypeRef) -> OSStatus) throws -> SecTrust {
        let status = set(type, policy)
        guard status.af.isSuccess else {
            throw AFError.serverTrustEvaluationFailed(
                reason: .policyApplicationFailed(trust: type, policy: policy, status: status))
        }
        return type
    }

    /// Judges under the policies that are set.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `trustEvaluationFailed`.
    public func evaluate() throws {
        var error: CFError?
        guard SecTrustEvaluateWithError(type, &error) else {
            throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: error))
        }
    }

    /// Judges as the older functions do: status and result have both to be a success.
    ///
    /// - Throws: What `errorProducer` makes of them when one is not.
    public func validate(
        errorProducer: (_ status: OSStatus, _ result: SecTrustResultType) -> any Error
    ) throws {
        var result = SecTrustResultType.invalid
        _ = SecTrustEvaluateWithError(type, nil)
        let status = SecTrustGetTrustResult(type, &result)
        guard status.af.isSuccess, result.af.isSuccess else { throw errorProducer(status, result) }
    }

    /// Makes `certificates` the anchors, and the only ones.
    public func setAnchorCertificates(_ certificates: [SecCertificate]) throws {
        try setAnchorCertificates(
            certificates, by: SecTrustSetAnchorCertificates, only: SecTrustSetAnchorCertificatesOnly)
    }

    func setAnchorCertificates(
        _ certificates: [SecCertificate], by set: (SecTrust, CFArray?) -> OSStatus,
        only setOnly: (SecTrust, Bool) -> OSStatus
    ) throws {
        var status = set(type, certificates)
        if status.af.isSuccess { status = setOnly(type, true) }
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

    /// The chain's keys.
    public var publicKeys: [SecKey] { certificates.af.publicKeys }

    /// Judges whether the chain is valid for a server. The host is not looked at.
    public func performDefaultValidation(forHost host: String) throws {
        try evaluate(afterApplying: SecPolicy.af.default)
    }

    /// Judges whether the chain is valid for a server, and for this host.
    public func performValidation(forHost host: String) throws {
        try evaluate(afterApplying: SecPolicy.af.hostname(host))
    }
}
