// SPDX-License-Identifier: MIT

public import Foundation

/// What a credential is for: a realm of a server or a proxy, and how it wants to be answered.
///
/// Immutable, and any thread's. Spaces of the same host (in any mix of cases), port, protocol, realm, method and kind of
/// proxy are equal, so that a stored credential is found by a space that was made anew (U-11.1).
public final class URLProtectionSpace: NSObject, NSSecureCoding, NSCopying, Sendable {
    private struct Contents: Hashable, Sendable {
        /// Compared in canonical form.
        var canonicalHost: String
        var port: Int
        var scheme: String?
        var realm: PeerText?
        var method: String
        var isProxy: Bool
        var proxyType: String?
    }

    private let contents: Contents
    /// As it was given.
    public let host: String
    /// For a challenge for a client certificate, the issuers that the server knows, as DER names.
    public let distinguishedNames: [Data]?
    /// For the question whether a server is trusted, what it has presented. It may be used after the connection is gone.
    public let serverTrust: SecTrust?

    /// A space of a server.
    ///
    /// - Parameters:
    ///   - host: The server's name or address.
    ///   - port: Its port.
    ///   - protocol: How it is reached, such as `NSURLProtectionSpaceHTTPS`.
    ///   - realm: Which of the server's spaces it is.
    ///   - authenticationMethod: How the server wants to be answered.
    public convenience init(
        host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?
    ) {
        self.init(
            host: host, port: port, protocol: `protocol`, realm: realm,
            authenticationMethod: authenticationMethod, distinguishedNames: nil)
    }

    /// A space of a server that names the issuers of certificates it takes, or has to be trusted itself.
    package init(
        host: String, port: Int, protocol scheme: String?, realm: String?, authenticationMethod: String?,
        distinguishedNames: [Data]?, serverTrust: SecTrust? = nil
    ) {
        self.host = host
        self.distinguishedNames = distinguishedNames
        self.serverTrust = serverTrust
        contents = Contents(
            canonicalHost: HostName.canonical(host), port: port, scheme: scheme,
            realm: realm.map(PeerText.init),
            method: authenticationMethod ?? NSURLAuthenticationMethodDefault, isProxy: false, proxyType: nil)
    }

    /// A space of a proxy.
    ///
    /// - Parameters:
    ///   - host: The proxy's name or address.
    ///   - port: Its port.
    ///   - type: What it is a proxy for, such as `NSURLProtectionSpaceHTTPProxy`.
    ///   - realm: Which of the proxy's spaces it is.
    ///   - authenticationMethod: How the proxy wants to be answered.
    public init(
        proxyHost host: String, port: Int, type: String?, realm: String?, authenticationMethod: String?
    ) {
        self.host = host
        distinguishedNames = nil
        serverTrust = nil
        contents = Contents(
            canonicalHost: HostName.canonical(host), port: port, scheme: nil, realm: realm.map(PeerText.init),
            method: authenticationMethod ?? NSURLAuthenticationMethodDefault, isProxy: true, proxyType: type)
    }

    /// Reads a space that was archived; nil when the archive holds something else.
    public init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding, coder.containsValue(forKey: "isProxy"),
            let host = coder.decodeObject(of: NSString.self, forKey: "host"),
            let method = coder.decodeObject(of: NSString.self, forKey: "method")
        else { return nil }
        self.host = host as String
        serverTrust = nil
        distinguishedNames =
            coder.decodeObject(of: [NSArray.self, NSData.self], forKey: "distinguishedNames") as? [Data]
        contents = Contents(
            canonicalHost: HostName.canonical(host as String),
            port: Int(truncatingIfNeeded: coder.decodeInt64(forKey: "port")),
            scheme: coder.decodeObject(of: NSString.self, forKey: "protocol") as String?,
            realm: coder.decodeObject(of: NSString.self, forKey: "realm").map { PeerText($0 as String) },
            method: method as String,
            isProxy: coder.decodeBool(forKey: "isProxy"),
            proxyType: coder.decodeObject(of: NSString.self, forKey: "proxyType") as String?)
    }

    /// Archives all values but the server's trust, which belongs to one connection.
    public func encode(with coder: NSCoder) {
        coder.encode(host as NSString, forKey: "host")
        coder.encode(Int64(contents.port), forKey: "port")
        coder.encode(contents.scheme.map { $0 as NSString }, forKey: "protocol")
        coder.encode(contents.realm.map { $0.text as NSString }, forKey: "realm")
        coder.encode(contents.method as NSString, forKey: "method")
        coder.encode(contents.isProxy, forKey: "isProxy")
        coder.encode(contents.proxyType.map { $0 as NSString }, forKey: "proxyType")
        coder.encode(distinguishedNames.map { $0 as NSArray }, forKey: "distinguishedNames")
    }

    /// Whether archives are checked as they are read: yes.
    public static var supportsSecureCoding: Bool { true }

    /// The port.
    public var port: Int { contents.port }

    /// How the server is reached; nil for a proxy.
    public var `protocol`: String? { contents.scheme }

    /// Which of the server's spaces it is; nil where the method has none.
    public var realm: String? { contents.realm?.text }

    /// How the server or proxy wants to be answered.
    public var authenticationMethod: String { contents.method }

    /// Whether it is a proxy's space.
    public override func isProxy() -> Bool { contents.isProxy }

    /// What the proxy is for; nil for a server.
    public var proxyType: String? { contents.proxyType }

    /// Whether a credential cannot be read on its way: the way is secure, or the method does not send it.
    public var receivesCredentialSecurely: Bool {
        if contents.isProxy
            ? contents.proxyType == NSURLProtectionSpaceHTTPSProxy
            : contents.scheme == NSURLProtectionSpaceHTTPS
        {
            return true
        }
        let methods = [
            NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM,
            NSURLAuthenticationMethodNegotiate, NSURLAuthenticationMethodClientCertificate,
            NSURLAuthenticationMethodServerTrust,
        ]
        return methods.contains(contents.method)
    }

    /// The space itself: it is immutable.
    public override func copy() -> Any { self }

    /// The space itself: it is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the other is the same space.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? URLProtectionSpace)?.contents == contents
    }

    /// Goes with `isEqual(_:)`.
    public override var hash: Int { contents.hashValue }

    /// Host, port, realm and method.
    public override var description: String {
        let kind = contents.isProxy ? "proxy " : ""
        let realm = contents.realm.map { ", realm \($0.text.debugDescription)" } ?? ""
        return "<URLProtectionSpace \(kind)\(host):\(port)\(realm), \(authenticationMethod)>"
    }
}
