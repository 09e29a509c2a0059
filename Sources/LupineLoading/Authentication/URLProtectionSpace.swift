// SPDX-License-Identifier: MIT

public import Foundation

/// The scope of a credential: a server or proxy, one of its realms, and the authentication method.
///
/// Immutable; may be used on any thread. Spaces with the same host (compared without case), port, protocol, realm, method and
/// proxy type are equal, so that a newly created space finds a stored credential (U-11.1).
public final class URLProtectionSpace: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The values by which spaces are compared.
    private struct Contents: Hashable, Sendable {
        /// The host in canonical form: in lower case, for example.
        var canonicalHost: String
        var port: Int
        var scheme: String?
        /// The realm, compared by its octets, because the peer chooses it.
        var realm: PeerText?
        var method: String
        var isProxy: Bool
        var proxyType: String?
    }

    private let contents: Contents
    /// The host as passed to the initializer.
    public let host: String
    /// For a client-certificate challenge, the issuers that the server accepts, as DER-encoded names.
    public let distinguishedNames: [Data]?
    /// For a server-trust challenge, the trust of the server's certificates. Remains usable after the connection is closed.
    public let serverTrust: SecTrust?

    /// Creates a space of a server.
    ///
    /// - Parameters:
    ///   - host: The server's name or address.
    ///   - port: Its port.
    ///   - protocol: The protocol, such as `NSURLProtectionSpaceHTTPS`.
    ///   - realm: The realm of the server.
    ///   - authenticationMethod: The method that the server requires.
    public convenience init(
        host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?
    ) {
        self.init(
            host: host, port: port, protocol: `protocol`, realm: realm,
            authenticationMethod: authenticationMethod, distinguishedNames: nil)
    }

    /// Creates a space of a server for a client-certificate or server-trust challenge.
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

    /// Creates a space of a proxy.
    ///
    /// - Parameters:
    ///   - host: The proxy's name or address.
    ///   - port: Its port.
    ///   - type: The type of the proxy, such as `NSURLProtectionSpaceHTTPProxy`.
    ///   - realm: The realm of the proxy.
    ///   - authenticationMethod: The method that the proxy requires.
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

    /// Reads an archived space; nil when the archive contains something else.
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

    /// Archives all values except the server trust, which belongs to one connection.
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

    /// Always true.
    public static var supportsSecureCoding: Bool { true }

    /// The port.
    public var port: Int { contents.port }

    /// The protocol of the server; nil for a proxy.
    public var `protocol`: String? { contents.scheme }

    /// The realm; nil when the method has none.
    public var realm: String? { contents.realm?.text }

    /// The method that the server or proxy requires.
    public var authenticationMethod: String { contents.method }

    /// Whether the space belongs to a proxy.
    public override func isProxy() -> Bool { contents.isProxy }

    /// The type of the proxy; nil for a server.
    public var proxyType: String? { contents.proxyType }

    /// Whether a credential is protected in transit: the connection is secure, or the method does not send the credential.
    public var receivesCredentialSecurely: Bool {
        let isConnectionSecure =
            contents.isProxy
            ? contents.proxyType == NSURLProtectionSpaceHTTPSProxy
            : contents.scheme == NSURLProtectionSpaceHTTPS
        if isConnectionSecure { return true }
        let methodsWithoutCredential = [
            NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM,
            NSURLAuthenticationMethodNegotiate, NSURLAuthenticationMethodClientCertificate,
            NSURLAuthenticationMethodServerTrust,
        ]
        return methodsWithoutCredential.contains(contents.method)
    }

    /// The space itself: it is immutable.
    public override func copy() -> Any { self }

    /// The space itself: it is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the other object is an equal space.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? URLProtectionSpace)?.contents == contents
    }

    /// Consistent with `isEqual(_:)`.
    public override var hash: Int { contents.hashValue }

    /// Contains host, port, realm and method.
    public override var description: String {
        let kind = contents.isProxy ? "proxy " : ""
        let realm = contents.realm.map { ", realm \($0.text.debugDescription)" } ?? ""
        return "<URLProtectionSpace \(kind)\(host):\(port)\(realm), \(authenticationMethod)>"
    }
}
