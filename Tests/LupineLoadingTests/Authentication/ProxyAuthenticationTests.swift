// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTLS
import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of challenges by proxies.
struct ProxyAuthenticationTests {
    typealias Scene = ChallengeScene

    static func proxy(_ server: ProxyServer, _ url: String) throws -> AuthenticationProxy {
        let place = try #require(URL(string: url))
        return try #require(AuthenticationProxy(server, for: place))
    }

    /// Passes a 407 to a request that the proxy forwards to the authenticator, and returns its verdict.
    static func refuse(_ scene: inout Scene, _ lines: [String]) throws -> String {
        scene.record(
            scene.authenticator.receive(try Scene.response(407, lines, "Proxy-Authenticate")))
    }

    /// Passes a 407 to a CONNECT to the authenticator, and returns its verdict.
    static func refuseTunnel(_ scene: inout Scene, _ lines: [String]) throws -> String {
        var fields = Fields()
        for line in lines { try fields.append(.proxyAuthenticate, line) }
        return scene.record(
            scene.authenticator.receiveTunnelRefusal(ResponseHead(status: Status(407), fields: fields)))
    }

    @Test("[U-11.17] a forwarded request is answered with the proxy's space, in Proxy-Authorization")
    func plain() throws {
        let memory = AuthenticationMemory()
        let storage = URLCredentialStorage()
        let proxy = try Self.proxy(ProxyServerFixture.plain, "http://origin.test/a")
        let request = try Scene.request("http://origin.test/a")
        var scene = Scene(memory, storage: storage)
        try scene.send(request, proxy: proxy)
        #expect(try Self.refuse(&scene, [Scene.digest()]) == "ask")
        let space = try #require(scene.lastChallenge?.protectionSpace)
        #expect(space.isProxy() && space.host == "proxy.test" && space.port == 3128)
        #expect(space.proxyType == NSURLProtectionSpaceHTTPProxy && space.realm == "r")
        #expect((scene.lastChallenge?.failureResponse as? HTTPURLResponse)?.statusCode == 407)
        #expect(scene.answer(.use(Scene.credential)) == "resend")
        let fields = try scene.send(request, proxy: proxy)
        #expect(fields.authorization == nil && fields.tunnelAuthorizer == nil)
        let sent = try DigestTests.parameters(fields.proxyAuthorization)
        #expect(sent["uri"] == "\"http://origin.test/a\"")
        // The server challenges as well: both answers are sent.
        #expect(try scene.receive(401, Scene.basic) == "ask")
        #expect(scene.lastChallenge?.protectionSpace.isProxy() == false)
        #expect(scene.answer(.use(Scene.credential)) == "resend")
        let both = try scene.send(request, proxy: proxy)
        #expect(both.authorization?.hasPrefix("Basic ") == true)
        #expect(try DigestTests.parameters(both.proxyAuthorization)["nc"] == "00000002")
        #expect(try scene.receive(200) == "deliver")
        #expect(storage.allCredentials.isEmpty)
        // Another task of the same user sends the field preemptively, to any origin behind that proxy.
        let next = try Scene.request("http://else.test/")
        var other = Scene(memory, own: Scene.credential, for: next)
        let elsewhere = try other.send(next, proxy: proxy)
        #expect(try DigestTests.parameters(elsewhere.proxyAuthorization)["nc"] == "00000003")
        #expect(elsewhere.authorization == nil)
    }

    @Test("[U-11.17] a refused answer is counted and forgotten")
    func refused() throws {
        let memory = AuthenticationMemory()
        let proxy = try Self.proxy(ProxyServerFixture.plain, "http://origin.test/a")
        var scene = Scene(memory)
        try scene.send(Scene.request(), proxy: proxy)
        #expect(try Self.refuse(&scene, [Scene.basic]) == "ask")
        #expect(scene.answer(.use(Scene.credential)) == "resend")
        #expect(try scene.send(Scene.request(), proxy: proxy).proxyAuthorization?.hasPrefix("Basic ") == true)
        #expect(try Self.refuse(&scene, [Scene.basic]) == "ask")
        #expect(scene.lastChallenge?.previousFailureCount == 1)
        #expect(scene.answer(.rejectSpace) == "deliver")
        #expect(try scene.send(Scene.request(), proxy: proxy).proxyAuthorization == nil)
    }

    @Test(
        "[U-11.17] a tunnel's Digest uses CONNECT and host:port, counts each use, and stays out of the tunnel"
    )
    func tunnel() throws {
        let proxy = try Self.proxy(ProxyServerFixture.plain, "https://origin.test/a")
        let request = try Scene.request("https://origin.test/a")
        var scene = Scene()
        try scene.send(request, proxy: proxy)
        #expect(try Self.refuseTunnel(&scene, [Scene.digest()]) == "ask")
        #expect(scene.lastChallenge?.protectionSpace.proxyType == NSURLProtectionSpaceHTTPSProxy)
        #expect(scene.answer(.use(Scene.credential)) == "resend")
        let fields = try scene.send(request, proxy: proxy)
        #expect(fields.proxyAuthorization == nil && fields.authorization == nil)
        let source = try #require(fields.tunnelAuthorizer?.source)
        for count in ["00000001", "00000002"] {
            let sent = try DigestTests.parameters(source.authorization(forTunnelTo: "origin.test:443"))
            let hash = { (text: String) in
                AuthenticatorTests.digits(MessageDigest.md5.digest(of: Array(text.utf8)))
            }
            let client = AuthenticatorTests.unquoted(sent["cnonce"])
            let expected = hash(
                "\(hash("Mufasa:r:Circle of Life")):n:\(count):\(client):auth:"
                    + hash("CONNECT:origin.test:443"))
            #expect(sent["uri"] == "\"origin.test:443\"" && sent["nc"] == count)
            #expect(sent["response"] == "\"\(expected)\"")
        }
        #expect(try scene.receive(200) == "deliver")
        // The authorizer is the same, so that its tunnels are reused.
        #expect(try scene.send(request, proxy: proxy).tunnelAuthorizer == fields.tunnelAuthorizer)
    }

    @Test("[U-11.17] a tunnel's auth-int hashes empty content, whatever the request's body is")
    func tunnelWithoutContent() throws {
        let proxy = try Self.proxy(ProxyServerFixture.plain, "https://origin.test/a")
        let request = try Scene.request("https://origin.test/a") { $0.httpMethod = "POST" }
        var scene = Scene()
        try scene.send(request, body: .streamed, proxy: proxy)
        let line = "Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\""
        #expect(try Self.refuseTunnel(&scene, [line]) == "ask")
        #expect(scene.answer(.use(Scene.credential)) == "resend")
        let fields = try scene.send(request, body: .streamed, proxy: proxy)
        let sent = fields.tunnelAuthorizer?.source.authorization(forTunnelTo: "origin.test:443")
        #expect(try DigestTests.parameters(sent)["qop"] == "auth-int")
    }

    @Test(
        "[U-11.17] the configuration's credential is used first: as Basic by the transport, as Digest unasked"
    )
    func configured() throws {
        let memory = AuthenticationMemory()
        for url in ["http://origin.test/a", "https://origin.test/a"] {
            let proxy = try Self.proxy(ProxyServerFixture.named, url)
            let request = try Scene.request(url)
            let storage = URLCredentialStorage()
            var scene = Scene(memory, storage: storage)
            #expect(try scene.send(request, proxy: proxy).proxyAuthorization == nil)
            let refuse = proxy.isTunnelled ? Self.refuseTunnel : Self.refuse
            #expect(try refuse(&scene, [Scene.digest()]) == "resend")
            let fields = try scene.send(request, proxy: proxy)
            let sent =
                fields.proxyAuthorization ?? fields.tunnelAuthorizer?.source.authorization(forTunnelTo: "x:1")
            #expect(try DigestTests.parameters(sent)["username"] == "\"Mufasa\"")
            #expect(try scene.receive(200) == "deliver" && scene.challenges.isEmpty)
            #expect(storage.allCredentials.isEmpty)
            var next = Scene(memory)
            let unasked = try next.send(request, proxy: proxy)
            #expect((unasked.proxyAuthorization != nil) == !proxy.isTunnelled)
            #expect((unasked.tunnelAuthorizer != nil) == proxy.isTunnelled)
        }
    }

    @Test("[U-11.17] the delegate is called when the proxy refuses the configuration's credential")
    func configuredIsRefused() throws {
        let proxy = try Self.proxy(ProxyServerFixture.named, "http://origin.test/a")
        let request = try Scene.request("http://origin.test/a")
        var scene = Scene()
        try scene.send(request, proxy: proxy)
        // The credential has been sent as Basic already.
        #expect(try Self.refuse(&scene, [Scene.basic]) == "ask")
        #expect(scene.lastChallenge?.previousFailureCount == 0)
        #expect(scene.answer(.use(nil)) == "deliver")
        var other = Scene()
        try other.send(request, proxy: proxy)
        #expect(try Self.refuse(&other, [Scene.digest()]) == "resend")
        try other.send(request, proxy: proxy)
        #expect(try Self.refuse(&other, [Scene.digest("m")]) == "ask")
        #expect(other.answer(.use(Scene.credential)) == "resend")
    }

    /// A challenge by the proxy to a task created for the URL `made`, while it loads the URL `hop`.
    struct ProxyChallenge: CustomTestStringConvertible, Sendable {
        let made: String
        let hop: String
        let isBasic: Bool
        /// True if the credential that the task was given is sent.
        let isAnswered: Bool
        var testDescription: String { "\(made), at \(hop), \(isBasic ? "Basic" : "Digest")" }

        init(_ made: String, _ hop: String, basic: Bool, digest: Bool, isBasic: Bool) {
            (self.made, self.hop, self.isBasic) = (made, hop, isBasic)
            isAnswered = isBasic ? basic : digest
        }

        static let all = [true, false].flatMap { isBasic in
            [
                ("http://a.test/1", "http://a.test/2", true, true),
                ("https://a.test/1", "https://a.test/2", false, true),
                ("http://a.test/1", "http://b.test/2", false, false),
                ("http://a.test/1", "http://a.test:81/2", false, false),
                ("http://a.test/1", "https://a.test/2", false, false),
                ("https://a.test/1", "http://a.test/2", false, false),
                ("https://a.test/1", "https://b.test/2", false, false),
            ].map { ProxyChallenge($0.0, $0.1, basic: $0.2, digest: $0.3, isBasic: isBasic) }
        }
    }

    @Test(
        "[U-11.4, U-11.17] the task's own credential answers a proxy only where that is allowed",
        arguments: ProxyChallenge.all)
    func handed(_ row: ProxyChallenge) throws {
        let memory = AuthenticationMemory()
        let storage = URLCredentialStorage()
        let proxy = try Self.proxy(ProxyServerFixture.plain, row.hop)
        let lines = [row.isBasic ? Scene.basic : Scene.digest()]
        let refuse = proxy.isTunnelled ? Self.refuseTunnel : Self.refuse
        let space = URLProtectionSpace(
            proxyHost: "proxy.test", port: 3128,
            type: proxy.isTunnelled ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy,
            realm: "r",
            authenticationMethod: row.isBasic
                ? NSURLAuthenticationMethodHTTPBasic : NSURLAuthenticationMethodHTTPDigest)
        storage.setDefaultCredential(
            URLCredential(user: "service", password: "s", persistence: .forSession), for: space)
        func scene() throws -> Scene {
            Scene(memory, storage: storage, own: Scene.credential, for: try Scene.request(row.made))
        }
        var first = try scene()
        try first.send(try Scene.request(row.hop), proxy: proxy)
        #expect(try refuse(&first, lines) == "ask")
        #expect(first.lastChallenge?.proposedCredential == (row.isAnswered ? Scene.credential : nil))
        #expect(first.answer(.performDefault) == (row.isAnswered ? "resend" : "deliver"))
        // A second task sends it preemptively under the same condition, after a task of the same user has been accepted.
        var user = Scene(memory)
        try user.send(try Scene.request(row.hop), proxy: proxy)
        #expect(try refuse(&user, lines) == "ask")
        #expect(user.answer(.use(Scene.credential)) == "resend")
        try user.send(try Scene.request(row.hop), proxy: proxy)
        #expect(try user.receive(200) == "deliver")
        var second = try scene()
        let sent = try second.send(try Scene.request(row.hop), proxy: proxy)
        #expect((sent.proxyAuthorization != nil || sent.tunnelAuthorizer != nil) == row.isAnswered)
    }

    @Test("[U-11.17] a delegate's credential is sent to the proxy, also if the task has the same credential")
    func delegateSaysTheSame() throws {
        let request = try Scene.request("https://a.test/")
        let proxy = try Self.proxy(ProxyServerFixture.plain, "https://a.test/")
        var scene = Scene(own: Scene.credential, for: request)
        try scene.send(request, proxy: proxy)
        #expect(try Self.refuseTunnel(&scene, [Scene.basic]) == "ask")
        #expect(scene.answer(.use(Scene.credential)) == "resend")
        #expect(try scene.send(request, proxy: proxy).tunnelAuthorizer != nil)
    }

    @Test("[U-11.17] a 407 of an origin is an ordinary response")
    func noProxyAsked() throws {
        var direct = Scene()
        try direct.send(Scene.request())
        #expect(try Self.refuse(&direct, [Scene.basic]) == "deliver")
        var tunnelled = Scene()
        let proxy = try Self.proxy(ProxyServerFixture.plain, "https://origin.test/a")
        try tunnelled.send(Scene.request("https://origin.test/a"), proxy: proxy)
        #expect(try Self.refuse(&tunnelled, [Scene.basic]) == "deliver")
        let url = try #require(URL(string: "http://origin.test/"))
        #expect(AuthenticationProxy(ProxyServerFixture.socks, for: url) == nil)
    }

    @Test("[U-11.13, U-11.17] a proxy's stale nonce is replaced without calling the delegate")
    func stale() throws {
        let proxy = try Self.proxy(ProxyServerFixture.plain, "https://origin.test/a")
        let request = try Scene.request("https://origin.test/a")
        var scene = Scene()
        try scene.send(request, proxy: proxy)
        #expect(try Self.refuseTunnel(&scene, [Scene.digest("1")]) == "ask")
        #expect(scene.answer(.use(Scene.credential)) == "resend")
        try scene.send(request, proxy: proxy)
        #expect(try Self.refuseTunnel(&scene, [Scene.digest("2", "stale=true")]) == "resend")
        let source = try scene.send(request, proxy: proxy).tunnelAuthorizer?.source
        #expect(
            try DigestTests.parameters(source?.authorization(forTunnelTo: "x:1"))["nonce"] == "\"2\"")
    }
}
