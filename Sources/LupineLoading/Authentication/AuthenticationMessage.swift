// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// The parts of an outgoing request on which an answer to a challenge depends.
struct AuthenticationMessage: Sendable {
    /// The content of the request.
    enum Content: Sendable {
        case none
        case data(Data)
        case file(URL)
        /// A stream, whose content is not known before it is sent: Digest with `auth-int`, which hashes it, is impossible.
        case stream
    }

    let url: URL
    let method: String
    let content: Content
    /// The HTTP proxy through which the request goes; nil when there is no proxy or a SOCKS proxy.
    let proxy: AuthenticationProxy?
    /// Whether the program has set `Authorization`. Only an answer to a challenge replaces the program's field.
    let hasAuthorization: Bool

    /// Copies the parts of `request`. The request has all its fields, except those that answer a challenge.
    init(_ request: URLRequest, body: TaskDefinition.Body, url: URL, proxy: AuthenticationProxy?) {
        self.url = url
        self.proxy = proxy
        method = request.httpMethod ?? "GET"
        hasAuthorization = request.value(forHTTPHeaderField: "Authorization") != nil
        content =
            switch body {
            case .data(let data): .data(data)
            case .file(let file): .file(file)
            case .streamed: .stream
            case .request:
                switch request.contents.value.body {
                case .none: .none
                case .data(let data): .data(data)
                case .stream: .stream
                }
            }
    }

    /// The server that would send a 401, in canonical form; nil for a URL without a host.
    var server: AuthenticationCandidate.Challenger? {
        AuthenticationCandidate.Challenger.server(of: url)?.canonical
    }

    /// The target exactly as in the request line (U-11.10, U-9.2): path and query, or `*`. For a proxy that forwards the request
    /// the target has the absolute form, which begins with scheme and authority. In that form `*` is left out (RFC 9112 §3.2.4).
    var target: String {
        guard let components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "/" }
        let path = components.percentEncodedPath.isEmpty ? "/" : components.percentEncodedPath
        let hasNoPathOrQuery = components.percentEncodedPath.isEmpty && components.percentEncodedQuery == nil
        let isAsterisk = method == "OPTIONS" && hasNoPathOrQuery
        let pathAndQuery = components.percentEncodedQuery.map { path + "?" + $0 } ?? path
        let target = isAsterisk ? "*" : pathAndQuery
        guard let proxy, !proxy.isTunnelled, let host = components.host,
            let port = UInt16(exactly: components.port ?? 80),
            let authority = try? Authority(host: HostName.canonical(host), port: port, defaultPort: 80)
        else { return target }
        return "http://" + authority.description + (isAsterisk ? "" : target)
    }
}

/// An HTTP proxy, which can send challenges.
struct AuthenticationProxy: Hashable, Sendable {
    /// The proxy as the sender of a challenge.
    let challenger: AuthenticationCandidate.Challenger
    /// Whether requests go through a tunnel. Each connection then authenticates to the proxy once; otherwise each request does.
    let isTunnelled: Bool
    /// The credential from the proxy's configuration (a dictionary or a URL), which is tried before others.
    let credential: URLCredential?

    /// Describes the proxy that the transport uses for requests to `url`. Fails for a SOCKS proxy.
    ///
    /// - Parameters:
    ///   - server: The proxy.
    ///   - url: The URL of the request.
    ///   - tunnelsEverything: Whether `http` requests use tunnels too.
    init?(_ server: ProxyServer, for url: URL, tunnelsEverything: Bool = false) {
        if case .socks5 = server.kind { return nil }
        let isSecure = url.scheme?.lowercased() == "https" || url.scheme?.lowercased() == "wss"
        // The type of a proxy is the scheme of the requests for which it is used.
        challenger = .proxy(
            host: server.host, port: Int(server.port),
            type: isSecure ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy)
        isTunnelled = isSecure || tunnelsEverything
        credential = server.credentials.map { credentials in
            URLCredential(
                user: String(decoding: credentials.user, as: UTF8.self),
                password: String(decoding: credentials.password, as: UTF8.self), persistence: .none)
        }
    }
}

/// The answers to challenges that are sent with a request.
struct AuthenticationFields: Sendable {
    /// The value of `Authorization`, for the server; nil leaves the program's field as it is.
    var authorization: String?
    /// The value of `Proxy-Authorization`, for a proxy that forwards the request. Never sent through a tunnel.
    var proxyAuthorization: String?
    /// The object that answers a proxy which opens a tunnel. The driver adds it to the `ProxyServer` of the request.
    var tunnelAuthorizer: TunnelAuthorizer?
}
