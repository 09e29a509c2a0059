// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// The parts of an outgoing request that an answer to a challenge depends on.
struct AuthenticationMessage: Sendable {
    /// The content that is sent.
    enum Content: Sendable {
        case none
        case data(Data)
        case file(URL)
        /// A stream, whose content is not known before it is sent: `auth-int` cannot protect it.
        case stream
    }

    let url: URL
    let method: String
    let content: Content
    /// The HTTP proxy through which the request goes; nil when there is no proxy or a SOCKS proxy.
    let proxy: AuthenticationProxy?
    /// Whether the program has set `Authorization`. Only an answer to a challenge replaces that field.
    let hasAuthorization: Bool

    /// Copies the parts of `request`, which is complete except for the answers.
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

    /// The server that a 401 comes from, in canonical form; nil for a URL without a host.
    var server: AuthenticationCandidate.Challenger? {
        AuthenticationCandidate.Challenger.server(of: url)?.canonical
    }

    /// The target exactly as in the request line (U-11.10, U-9.2): path and query, or `*`. A proxy that forwards the request gets
    /// the absolute form, with scheme and authority first. If the target is `*`, nothing follows them (RFC 9112 §3.2.4).
    var target: String {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "/" }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        let namesServerAlone = parts.percentEncodedPath.isEmpty && parts.percentEncodedQuery == nil
        let isAsterisk = method == "OPTIONS" && namesServerAlone
        let pathAndQuery = parts.percentEncodedQuery.map { path + "?" + $0 } ?? path
        let target = isAsterisk ? "*" : pathAndQuery
        guard let proxy, !proxy.isTunnelled, let host = parts.host,
            let port = UInt16(exactly: parts.port ?? 80),
            let authority = try? Authority(host: HostName.canonical(host), port: port, defaultPort: 80)
        else { return target }
        return "http://" + authority.description + (isAsterisk ? "" : target)
    }
}

/// An HTTP proxy as a possible sender of challenges.
struct AuthenticationProxy: Hashable, Sendable {
    let challenger: AuthenticationCandidate.Challenger
    /// Whether requests go through a tunnel: a connection then authenticates to the proxy once, instead of with each request.
    let isTunnelled: Bool
    /// The credential from the proxy's dictionary or URL, which is tried before others.
    let credential: URLCredential?

    /// Describes the proxy that the transport uses for requests to `url`. Fails when it is not an HTTP proxy.
    ///
    /// - Parameter tunnelsEverything: Whether `http` requests use tunnels too.
    init?(_ server: ProxyServer, for url: URL, tunnelsEverything: Bool = false) {
        if case .socks5 = server.kind { return nil }
        let isSecure = url.scheme?.lowercased() == "https" || url.scheme?.lowercased() == "wss"
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

/// The answers that are sent with a request.
struct AuthenticationFields: Sendable {
    /// The value of `Authorization`, for the server; nil leaves the program's field as it is.
    var authorization: String?
    /// The value of `Proxy-Authorization`, for a proxy that forwards the request. Never sent through a tunnel.
    var proxyAuthorization: String?
    /// The answer to a proxy that opens a tunnel; becomes part of the origin's `ProxyServer`.
    var tunnelAuthorizer: TunnelAuthorizer?
}
