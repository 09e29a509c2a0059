// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// Apple's functions that create and change a `SecTrust`, without evaluating it. All may be called on any thread. They pass
// `keepsChain: true` for settings on which the chain does not depend, so that a chain that was built already stays valid.

/// Creates a trust.
///
/// - Parameters:
///   - certificates: A `SecCertificate`, or an array of them with the leaf first.
///   - policies: A `SecPolicy`, an array of them, or nil for the basic policy.
///   - trust: Receives the trust.
/// - Returns: `errSecSuccess`, or `errSecParam` when certificates or policies have another type, or are an empty array.
@safe public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef, _ policies: CFTypeRef?, _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    // After an error the caller has no trust.
    unsafe trust.pointee = nil
    guard let certificates: [SecCertificate] = oneOrMore(certificates) else { return errSecParam }
    // Nil policies become the basic one; policies of another type make `oneOrMore` return nil.
    guard let policies = policies.map({ oneOrMore($0) }) ?? [SecPolicyCreateBasicX509()] else {
        return errSecParam
    }
    unsafe trust.pointee = SecTrust(certificates: certificates, policies: policies)
    return errSecSuccess
}

/// Replaces the policies. The trust has to satisfy all of them.
///
/// - Parameters:
///   - trust: The trust to change.
///   - policies: A `SecPolicy`, or an array of them.
/// - Returns: `errSecSuccess`, or `errSecParam` when `policies` has another type, or is an empty array.
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    guard let policies: [SecPolicy] = oneOrMore(policies) else { return errSecParam }
    trust.change(keepsChain: true) { $0.policies = policies }
    return errSecSuccess
}

/// Copies the policies, as an array of `SecPolicy`.
///
/// - Returns: `errSecSuccess`.
@safe public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>)
    -> OSStatus
{
    unsafe policies.pointee = trust.settings.policies
    return errSecSuccess
}

/// Sets the anchors, which need not be self-signed, in place of the system's anchors. `SecTrustSetAnchorCertificatesOnly` can
/// enable the system's anchors again afterwards. Nil removes the anchors, and restores those of the system.
///
/// - Returns: `errSecSuccess`, or `errSecParam` when an element is not a `SecCertificate`.
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    let anchors = anchorCertificates as? [SecCertificate]
    if anchorCertificates != nil, anchors == nil { return errSecParam }
    trust.change { settings in
        settings.anchors = anchors
        settings.usesOnlyAnchors = anchors != nil
    }
    return errSecSuccess
}

/// Sets whether an evaluation uses only the anchors of `SecTrustSetAnchorCertificates`, or those of the system too.
///
/// - Returns: `errSecSuccess`.
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.change { $0.usesOnlyAnchors = anchorCertificatesOnly }
    return errSecSuccess
}

/// Sets the date for which an evaluation checks validity.
///
/// - Returns: `errSecSuccess`.
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    trust.change { $0.verifyDate = verifyDate }
    return errSecSuccess
}

/// Sets whether an evaluation may fetch revocation answers if a policy requires them. The default is true.
///
/// - Returns: `errSecSuccess`.
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
    trust.change(keepsChain: true) { $0.mayFetch = allowFetch }
    return errSecSuccess
}

/// Sets the OCSP responses for the leaf, in place of the stapled ones.
///
/// - Parameters:
///   - trust: The trust to change.
///   - responseData: A `Data`, an array of them, or nil for none.
/// - Returns: `errSecSuccess`, or `errSecParam` when `responseData` has another type, or is an empty array.
public func SecTrustSetOCSPResponse(_ trust: SecTrust, _ responseData: CFTypeRef?) -> OSStatus {
    var responses: [Data] = []
    if let responseData {
        guard let elements: [Data] = oneOrMore(responseData) else { return errSecParam }
        responses = elements
    }
    trust.change(keepsChain: true) { [responses] settings in
        settings.responses = responses.map { [UInt8]($0) }
    }
    return errSecSuccess
}

/// Returns a value, or an array of values, as an array; nil if they have another type, or if the array is empty.
private func oneOrMore<Element>(_ value: Any) -> [Element]? {
    if let one = value as? Element { return [one] }
    guard let several = value as? [Element], !several.isEmpty else { return nil }
    return several
}
