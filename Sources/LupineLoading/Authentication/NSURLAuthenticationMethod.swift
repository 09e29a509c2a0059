// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Apple's names for protocols, kinds of proxies and ways to authenticate, as `URLProtectionSpace` has them.

/// The protocol `http`.
public let NSURLProtectionSpaceHTTP = "http"
/// The protocol `https`.
public let NSURLProtectionSpaceHTTPS = "https"
/// The type of a proxy for http.
public let NSURLProtectionSpaceHTTPProxy = "http"
/// The type of a proxy for https.
public let NSURLProtectionSpaceHTTPSProxy = "https"
/// The type of a SOCKS proxy.
public let NSURLProtectionSpaceSOCKSProxy = "SOCKS"

/// The method that a protocol uses when none is named.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
/// Basic authentication (RFC 7617).
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// Digest authentication (RFC 7616).
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// A form on a page.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"
/// NTLM; not supported here.
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
/// Negotiate; not supported here.
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"
/// A certificate of the client's.
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
/// Whether the server's certificates are trusted.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
