// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// Apple's functions that make and change a `SecTrust`. None of them judges anything; all may be called on any thread.

/// Makes a trust.
///
/// - Parameters:
///   - certificates: A `SecCertificate`, or an array of them with the leaf first.
///   - policies: A `SecPolicy`, an array of them, or nil for the basic one.
///   - trust: Takes the trust.
/// - Returns: `errSecSuccess`, or `errSecParam` when the others are something else, or empty.
@safe public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef, _ policies: CFTypeRef?, _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    unsafe trust.pointee = nil
    guard let certificates: [SecCertificate] = oneOrMore(certificates) else { return errSecParam }
    guard let policies = policies.map({ oneOrMore($0) }) ?? [SecPolicyCreateBasicX509()] else {
        return errSecParam
    }
    unsafe trust.pointee = SecTrust(certificates: certificates, policies: policies)
    return errSecSuccess
}

/// Replaces the policies; with several, all have to pass.
///
/// - Parameters:
///   - trust: What is changed.
///   - policies: A `SecPolicy`, or an array of them.
/// - Returns: `errSecSuccess`, or `errSecParam` when it is something else, or empty.
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    guard let policies: [SecPolicy] = oneOrMore(policies) else { return errSecParam }
    trust.change(keepsPath: true) { $0.policies = policies }
    return errSecSuccess
}

/// Gives the policies, as an array of `SecPolicy`.
///
/// - Returns: `errSecSuccess`.
@safe public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>)
    -> OSStatus
{
    unsafe policies.pointee = trust.settings.policies
    return errSecSuccess
}

/// Sets the certificates that end a chain, self-signed or not; those of the system count no longer, unless
/// `SecTrustSetAnchorCertificatesOnly` says so afterwards. Nil restores the system's alone.
///
/// - Returns: `errSecSuccess`, or `errSecParam` when one is no `SecCertificate`.
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    let anchors = anchorCertificates as? [SecCertificate]
    if anchorCertificates != nil, anchors == nil { return errSecParam }
    trust.change { settings in
        settings.anchors = anchors
        settings.hasOnlyTheseAnchors = anchors != nil
    }
    return errSecSuccess
}

/// Says whether only the certificates that were set end a chain, or also those of the system.
///
/// - Returns: `errSecSuccess`.
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.change { $0.hasOnlyTheseAnchors = anchorCertificatesOnly }
    return errSecSuccess
}

/// Sets the moment for which is judged.
///
/// - Returns: `errSecSuccess`.
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    trust.change { $0.verifyDate = verifyDate }
    return errSecSuccess
}

/// Says whether answers about revocation may be fetched, where a policy asks for them. They may unless this is called.
///
/// - Returns: `errSecSuccess`.
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
    trust.change(keepsPath: true) { $0.mayFetch = allowFetch }
    return errSecSuccess
}

/// Sets the OCSP responses about the leaf, in place of what the server has stapled.
///
/// - Parameters:
///   - trust: What is changed.
///   - responseData: A `Data`, an array of them, or nil for none.
/// - Returns: `errSecSuccess`, or `errSecParam` when it is something else.
public func SecTrustSetOCSPResponse(_ trust: SecTrust, _ responseData: CFTypeRef?) -> OSStatus {
    var responses: [Data] = []
    if let responseData {
        guard let given: [Data] = oneOrMore(responseData) else { return errSecParam }
        responses = given
    }
    trust.change(keepsPath: true) { [responses] settings in
        settings.responses = responses.map { [UInt8]($0) }
    }
    return errSecSuccess
}

/// What may be given alone or in an array; nil for anything else, and for an empty array.
private func oneOrMore<Element>(_ value: Any) -> [Element]? {
    if let one = value as? Element { return [one] }
    guard let several = value as? [Element], !several.isEmpty else { return nil }
    return several
}
