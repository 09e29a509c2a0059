// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// The request of one hop as it will be sent, as far as an answer to a challenge depends on it.
struct AuthenticationMessage: Sendable {
    /// What goes out as content.
    enum Content: Sendable {
        case none
        case data(Data)
        case file(URL)
        /// Nobody knows it before it has been sent: `auth-int` cannot protect it.
        case stream
    }

    let url: URL
    let method: String
    let content: Content
    /// The proxy in between; nil for none, and for one that does not read HTTP.
    let proxy: AuthenticationProxy?
    /// The caller has answered by a header field already; only a challenge replaces that.
    let hasAuthorization: Bool

    /// What depends on it of `request`, which is complete but for the answers.
    init(_ request: URLRequest, body: TaskOrder.Body, url: URL, proxy: AuthenticationProxy?) {
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

    /// Who asks with a 401, by its canonical name; nil for an address that cannot be sent to.
    var server: AuthenticationCandidate.Asker? {
        AuthenticationCandidate.Asker.server(of: url)?.canonical
    }

    /// The target exactly as the request line has it (U-11.10, U-9.2): path and query, or `*`, and in front of them scheme
    /// and authority where a proxy is to forward the request; these alone instead of `*`.
    var target: String {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "/" }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        let namesServerAlone = parts.percentEncodedPath.isEmpty && parts.percentEncodedQuery == nil
        let isAsterisk = method == "OPTIONS" && namesServerAlone
        let target = isAsterisk ? "*" : parts.percentEncodedQuery.map { path + "?" + $0 } ?? path
        guard let proxy, !proxy.isTunnelled, let host = parts.host,
            let port = UInt16(exactly: parts.port ?? 80),
            let authority = try? Authority(host: HostName.canonical(host), port: port, defaultPort: 80)
        else { return target }
        return "http://" + authority.description + (isAsterisk ? "" : target)
    }
}

/// An HTTP proxy as one that may ask who we are.
struct AuthenticationProxy: Hashable, Sendable {
    let asker: AuthenticationCandidate.Asker
    /// Whether it passes bytes on, and so is asked once for each connection; else it reads each request.
    let isTunnelled: Bool
    /// Who we are to it by configuration: what the proxy's dictionary or URL says. Tried first.
    let credential: URLCredential?

    /// The proxy as the transport will use it for requests to `url`; nil when it is none that speaks HTTP.
    ///
    /// - Parameter tunnelsEverything: Whether `http` is sent through tunnels, too.
    init?(_ server: ProxyServer, for url: URL, tunnelsEverything: Bool = false) {
        if case .socks5 = server.kind { return nil }
        let isSecure = url.scheme?.lowercased() == "https" || url.scheme?.lowercased() == "wss"
        asker = .proxy(
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

/// What of the answers goes out with a request.
struct AuthenticationFields: Sendable {
    /// For the server; nil leaves what the caller has set.
    var authorization: String?
    /// For a proxy that reads the request. Never sent through a tunnel.
    var proxyAuthorization: String?
    /// For a proxy that is asked for a tunnel: part of the origin's `ProxyServer`.
    var tunnelAuthorizer: TunnelAuthorizer?
}
