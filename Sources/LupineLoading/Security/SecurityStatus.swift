// SPDX-License-Identifier: MIT

// The result codes of the security functions, with the values that they have on Apple's systems.

/// The function succeeded.
public let errSecSuccess: OSStatus = 0
/// The library does not support the function.
public let errSecUnimplemented: OSStatus = -4
/// A parameter is of the wrong type, or empty.
public let errSecParam: OSStatus = -50
/// The password is missing.
public let errSecPassphraseRequired: OSStatus = -25_260
/// The password is wrong.
public let errSecAuthFailed: OSStatus = -25_293
/// The item was not found.
public let errSecItemNotFound: OSStatus = -25_300
/// An issuer is missing, so that there is no chain to an anchor.
public let errSecCreateChainFailed: OSStatus = -25_318
/// The data is malformed.
public let errSecDecode: OSStatus = -26_275
/// The certificate is for other hosts.
public let errSecHostNameMismatch: OSStatus = -67_602
/// An issuer in the chain is no certificate authority, or the chain below it is longer than it allows.
public let errSecNoBasicConstraintsCA: OSStatus = -67_605
/// The certificate must not be used for this purpose.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67_609
/// A signature, a name or the strength of a key in the chain is invalid.
public let errSecInvalidRoot: OSStatus = -67_612
/// A certificate of the chain has expired.
public let errSecCertificateExpired: OSStatus = -67_818
/// A certificate of the chain is not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67_819
/// A certificate of the chain is revoked.
public let errSecCertificateRevoked: OSStatus = -67_820
/// The required revocation status of a certificate is unknown.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67_635
/// The chain ends at a certificate that is no anchor.
public let errSecNotTrusted: OSStatus = -67_843
