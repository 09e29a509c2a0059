// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import LupineTLS
import LupineTestKit
import Testing

/// Secrets that a program has supplied for one server, and redirects to another server, which must not receive them.
@Suite struct RedirectSecretTests {
    /// A way in which a program supplies a secret. Each is or contains `s3cr3t`.
    struct Secret: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Whether the first server demands a password (status 401) before it redirects.
        var isDemanded = false
        /// The user information in the URL, with its `@`.
        var user = ""
        /// Whether it is sent again after a redirect within its origin. Proxy credentials never are.
        var isResent = true
        /// The host to which the secret is sent on any port, if it is a cookie: cookies are not bound to ports or schemes
        /// (RFC 6265 §8.5).
        var host: String?
        var headers: HTTPHeaders = [:]
        var interceptor: (any RequestInterceptor)?
        /// Adds the secret to the request.
        var apply: @Sendable (DataRequest) throws -> Void = { _ in }
        var configure: @Sendable (URLSessionConfiguration) throws -> Void = { _ in }
    }

    private static let basic = HTTPHeader.authorization(username: "user", password: "s3cr3t")

    /// Returns a cookie of this host.
    private static func cookie(_ domain: String, isSecure: Bool = false) throws -> HTTPCookie {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: "id", .value: "s3cr3t", .domain: domain, .path: "/",
        ]
        if isSecure { properties[.secure] = true }
        return try #require(HTTPCookie(properties: properties))
    }

    static let secrets: [Secret] =
        [
            Secret(testDescription: "an Authorization header", headers: [basic]),
            Secret(testDescription: "a token", headers: [.authorization(bearerToken: "s3cr3t")]),
            Secret(testDescription: "a Cookie header", headers: ["Cookie": "id=s3cr3t"]),
            Secret(
                testDescription: "a Proxy-Authorization header", isResent: false,
                headers: ["Proxy-Authorization": "Basic s3cr3t"]),
            Secret(
                testDescription: "an Authorization header of the session",
                configure: { $0.httpAdditionalHeaders = ["Authorization": "Bearer s3cr3t"] }),
            Secret(
                testDescription: "a Cookie header of the session",
                configure: { $0.httpAdditionalHeaders = ["Cookie": "id=s3cr3t"] }),
            Secret(
                testDescription: "a header of an adapter",
                interceptor: Interceptor(
                    adapters: [
                        Adapter { request, _, completion in
                            var request = request
                            request.headers.update(.authorization(bearerToken: "s3cr3t"))
                            completion(.success(request))
                        }
                    ])),
            Secret(
                testDescription: "a user and a password of the request", isDemanded: true,
                apply: { $0.authenticate(username: "user", password: "s3cr3t") }),
            Secret(
                testDescription: "a user and a password in the URL", isDemanded: true,
                user: "user:s3cr3t@"),
        ]
        + ["home.test", "good.test"].map { host in
            Secret(
                testDescription: "a cookie of \(host)", host: host,
                configure: { $0.httpCookieStorage?.setCookie(try cookie(host)) })
        }

    struct Move: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let from: RedirectSites.Site
        let to: RedirectSites.Site
    }

    static let moves = [
        Move(testDescription: "to another host", from: .home, to: .otherHost),
        Move(testDescription: "to a subdomain", from: .home, to: .hostBelow),
        Move(testDescription: "to another port", from: .home, to: .otherPort),
        Move(testDescription: "to https", from: .home, to: .secure),
        Move(testDescription: "from https to http", from: .secure, to: .home),
        Move(testDescription: "to another host of https", from: .secure, to: .secureOtherHost),
        Move(
            testDescription: "to another port of https", from: .secure, to: .secureOtherPort),
    ]

    /// Returns the header lines that `/to` receives after a redirect of a request with this secret.
    private func lines(
        _ secret: Secret, from: RedirectSites.Site, to: RedirectSites.Site, status: Int = 302,
        setsCookie: Bool = false
    ) async throws -> [String] {
        var lines: [String] = []
        try await RedirectSites.with(status: status, challenges: secret.isDemanded, secret.configure) {
            sites in
            let request = sites.session.request(
                sites.url(
                    from, "/from?\(setsCookie ? "late=1&" : "")next=\(sites.url(to))", user: secret.user),
                headers: secret.headers,
                interceptor: secret.interceptor)
            try secret.apply(request)
            let response = await request.answered()
            #expect(response.error == nil)
            #expect(response.response?.url?.path == "/to")
            lines = sites.lines
        }
        return lines
    }

    private func containsSecret(_ line: String) -> Bool {
        let encoded = Data("user:s3cr3t".utf8).base64EncodedString()
        return line.contains("s3cr3t") || line.contains(encoded)
            || line.lowercased().hasPrefix("authorization")
    }

    @Test(
        "[U-10.5] no secret is sent to another origin after a redirect", .timeLimit(.minutes(10)),
        arguments: secrets, moves)
    func otherOrigin(_ secret: Secret, _ move: Move) async throws {
        let host = RedirectSites.host(move.to)
        for status in [301, 302, 303, 307, 308] {
            var lines = try await lines(
                secret, from: move.from, to: move.to, status: status, setsCookie: true)
            #expect(!lines.isEmpty)
            // A cookie is sent to its own host.
            if secret.host == host { lines = lines.map { $0.replacing("id=s3cr3t", with: "") } }
            if RedirectSites.host(move.from) == host {
                lines = lines.map { $0.replacing("late=s3cr3t-late", with: "") }
            }
            #expect(lines.filter(containsSecret) == [], "\(status)")
        }
    }

    @Test("a secret is sent again within its origin", .timeLimit(.minutes(10)), arguments: secrets)
    func sameOrigin(_ secret: Secret) async throws {
        for site in [RedirectSites.Site.home, .secure] {
            let matchesHost = secret.host.map { $0 == RedirectSites.host(site) } ?? true
            let lines = try await lines(secret, from: site, to: site)
            #expect(lines.contains(where: containsSecret) == (secret.isResent && matchesHost))
        }
    }

    @Test("a secure cookie is not sent over http", .timeLimit(.minutes(10)))
    func secureCookies() async throws {
        let secret = Secret(
            testDescription: "a secure cookie",
            configure: { $0.httpCookieStorage?.setCookie(try Self.cookie("home.test", isSecure: true)) })
        #expect(try await lines(secret, from: .secure, to: .home).filter(containsSecret) == [])
    }

    @Test("a removed secret is not added again by a redirect back", .timeLimit(.minutes(10)))
    func wayBack() async throws {
        try await RedirectSites.with { sites in
            let home = sites.url(.home)
            let away = sites.url(.otherHost, "/from?next=\(home)")
            let request = sites.session.request(
                sites.url(.home, "/from?next=\(away)"), headers: [Self.basic])
            let response = await request.answered()
            #expect(response.response?.url?.absoluteString == home)
            #expect(sites.lines.filter { $0.lowercased().hasPrefix("authorization") } == [])
        }
    }

    @Test(
        "[U-10.5] no client certificate is sent to another origin", .timeLimit(.minutes(10)),
        arguments: [RedirectSites.Site.secureOtherPort, .secureOtherHost, .home], [true, false])
    func certificates(_ to: RedirectSites.Site, _ isOfSession: Bool) async throws {
        let identity = try SecIdentity(
            pemChain: PKI.text("client-rsa.pem"), pemKey: PKI.text("client-rsa.key"))
        let ofSession = try TLSIdentity(
            pemChain: PKI.text("client-rsa.pem"), pemKey: PKI.text("client-rsa.key"))
        func configure(_ configuration: URLSessionConfiguration) {
            if isOfSession { configuration.lupine.tls.identity = ofSession }
        }
        try await RedirectSites.with(configure) { sites in
            let request = sites.session.request(sites.url(.secure, "/from?next=\(sites.url(to))"))
            if !isOfSession {
                request.authenticate(
                    with: URLCredential(identity: identity, certificates: nil, persistence: .forSession))
            }
            let response = await request.answered()
            #expect(response.response?.url?.path == "/to")
            // The first server has received it, so it was available for the next one.
            #expect(sites.certificates(.secure) == 1)
            #expect(sites.certificates(.secureOtherPort) == 0)
        }
    }
}
