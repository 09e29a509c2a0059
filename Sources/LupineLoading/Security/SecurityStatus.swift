// SPDX-License-Identifier: MIT

// The results of the security functions, with the numbers that they have on Apple's systems.

/// It has worked.
public let errSecSuccess: OSStatus = 0
/// The function cannot do this here.
public let errSecUnimplemented: OSStatus = -4
/// A parameter is of the wrong kind, or empty.
public let errSecParam: OSStatus = -50
/// The password is missing.
public let errSecPassphraseRequired: OSStatus = -25_260
/// The password is wrong.
public let errSecAuthFailed: OSStatus = -25_293
/// What was looked for is not there.
public let errSecItemNotFound: OSStatus = -25_300
/// An issuer is missing, so that there is no chain to an anchor.
public let errSecCreateChainFailed: OSStatus = -25_318
/// The bytes are not what they should be.
public let errSecDecode: OSStatus = -26_275
/// The certificate is for other hosts.
public let errSecHostNameMismatch: OSStatus = -67_602
/// A certificate has issued another and may not, or not so far down.
public let errSecNoBasicConstraintsCA: OSStatus = -67_605
/// The certificate is not for this use.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67_609
/// A certificate of the chain does not hold: a signature, a name or a strength.
public let errSecInvalidRoot: OSStatus = -67_612
/// A certificate of the chain is no longer valid.
public let errSecCertificateExpired: OSStatus = -67_818
/// A certificate of the chain is not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67_819
/// A certificate of the chain was revoked.
public let errSecCertificateRevoked: OSStatus = -67_820
/// Nobody said whether a certificate was revoked, and that was required.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67_635
/// The chain ends at a certificate that is no anchor.
public let errSecNotTrusted: OSStatus = -67_843
