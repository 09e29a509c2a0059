// SPDX-License-Identifier: MIT

// The names are Apple's, from a C header; each name contains the suite's algorithms.
// swift-format-ignore: TypeNamesShouldBeCapitalized, AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
/// A TLS cipher suite by its number in the IANA registry, under Apple's name.
///
/// Apple's type is an enum. This is a struct, because OpenSSL may negotiate suites for which Apple has no name, and metrics
/// report these suites too.
public struct tls_ciphersuite_t: RawRepresentable, Hashable, Sendable {
    /// The number in the TLS protocol.
    public let rawValue: UInt16

    /// Creates the suite with this number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `TLS_RSA_WITH_3DES_EDE_CBC_SHA`
    public static let RSA_WITH_3DES_EDE_CBC_SHA = tls_ciphersuite_t(rawValue: 0x000A)
    /// `TLS_RSA_WITH_AES_128_CBC_SHA`
    public static let RSA_WITH_AES_128_CBC_SHA = tls_ciphersuite_t(rawValue: 0x002F)
    /// `TLS_RSA_WITH_AES_256_CBC_SHA`
    public static let RSA_WITH_AES_256_CBC_SHA = tls_ciphersuite_t(rawValue: 0x0035)
    /// `TLS_RSA_WITH_AES_128_CBC_SHA256`
    public static let RSA_WITH_AES_128_CBC_SHA256 = tls_ciphersuite_t(rawValue: 0x003C)
    /// `TLS_RSA_WITH_AES_256_CBC_SHA256`
    public static let RSA_WITH_AES_256_CBC_SHA256 = tls_ciphersuite_t(rawValue: 0x003D)
    /// `TLS_RSA_WITH_AES_128_GCM_SHA256`
    public static let RSA_WITH_AES_128_GCM_SHA256 = tls_ciphersuite_t(rawValue: 0x009C)
    /// `TLS_RSA_WITH_AES_256_GCM_SHA384`
    public static let RSA_WITH_AES_256_GCM_SHA384 = tls_ciphersuite_t(rawValue: 0x009D)
    /// `TLS_AES_128_GCM_SHA256`
    public static let AES_128_GCM_SHA256 = tls_ciphersuite_t(rawValue: 0x1301)
    /// `TLS_AES_256_GCM_SHA384`
    public static let AES_256_GCM_SHA384 = tls_ciphersuite_t(rawValue: 0x1302)
    /// `TLS_CHACHA20_POLY1305_SHA256`
    public static let CHACHA20_POLY1305_SHA256 = tls_ciphersuite_t(rawValue: 0x1303)
    /// `TLS_ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA`
    public static let ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA = tls_ciphersuite_t(rawValue: 0xC008)
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA`
    public static let ECDHE_ECDSA_WITH_AES_128_CBC_SHA = tls_ciphersuite_t(rawValue: 0xC009)
    /// `TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA`
    public static let ECDHE_ECDSA_WITH_AES_256_CBC_SHA = tls_ciphersuite_t(rawValue: 0xC00A)
    /// `TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA`
    public static let ECDHE_RSA_WITH_3DES_EDE_CBC_SHA = tls_ciphersuite_t(rawValue: 0xC012)
    /// `TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA`
    public static let ECDHE_RSA_WITH_AES_128_CBC_SHA = tls_ciphersuite_t(rawValue: 0xC013)
    /// `TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA`
    public static let ECDHE_RSA_WITH_AES_256_CBC_SHA = tls_ciphersuite_t(rawValue: 0xC014)
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256`
    public static let ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 = tls_ciphersuite_t(rawValue: 0xC023)
    /// `TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384`
    public static let ECDHE_ECDSA_WITH_AES_256_CBC_SHA384 = tls_ciphersuite_t(rawValue: 0xC024)
    /// `TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256`
    public static let ECDHE_RSA_WITH_AES_128_CBC_SHA256 = tls_ciphersuite_t(rawValue: 0xC027)
    /// `TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384`
    public static let ECDHE_RSA_WITH_AES_256_CBC_SHA384 = tls_ciphersuite_t(rawValue: 0xC028)
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256`
    public static let ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 = tls_ciphersuite_t(rawValue: 0xC02B)
    /// `TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384`
    public static let ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 = tls_ciphersuite_t(rawValue: 0xC02C)
    /// `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`
    public static let ECDHE_RSA_WITH_AES_128_GCM_SHA256 = tls_ciphersuite_t(rawValue: 0xC02F)
    /// `TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384`
    public static let ECDHE_RSA_WITH_AES_256_GCM_SHA384 = tls_ciphersuite_t(rawValue: 0xC030)
    /// `TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256`
    public static let ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 = tls_ciphersuite_t(rawValue: 0xCCA8)
    /// `TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256`
    public static let ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 = tls_ciphersuite_t(rawValue: 0xCCA9)
}
