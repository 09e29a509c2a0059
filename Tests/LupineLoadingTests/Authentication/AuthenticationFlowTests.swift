// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Challenges of an origin over real connections: the authenticator decides, the transport's client sends.
@Suite struct AuthenticationFlowTests {
    /// A driver of one task, as far as it handles challenges.
    struct Flow {
        let client: HTTPClient
        let base: String
        var scene: ChallengeScene
        /// The number of requests sent so far.
        var count = 0

        mutating func load(
            _ path: String, _ method: String = "GET", body: Data? = nil, proxy: AuthenticationProxy? = nil,
            as credential: URLCredential? = ChallengeScene.credential
        ) async throws -> (status: Int, text: String) {
            let request = try ChallengeScene.request(base + path) {
                $0.httpMethod = method
                $0.httpBody = body
            }
            while true {
                let fields = try scene.send(request, proxy: proxy)
                var sent = Fields()
                if let value = fields.authorization { try sent.append(.authorization, value) }
                if let value = fields.proxyAuthorization { try sent.append(.proxyAuthorization, value) }
                let content: HTTPRequest.Body = body.map { .bytes(Array($0)) } ?? .none
                let response = try await client.send(
                    HTTPRequest(method: Method(method), url: base + path, fields: sent, body: content))
                count += 1
                let text = try await response.body.text()
                let url = try #require(request.url)
                var verdict = scene.record(
                    scene.authenticator.receive(
                        HTTPURLResponse(url: url, head: response.head, isDecoded: false)))
                if verdict == "ask" {
                    // One credential, offered once, as a pipeline does it.
                    let isFirst = scene.lastChallenge?.previousFailureCount == 0
                    verdict = scene.answer(isFirst ? .use(credential) : .rejectSpace)
                }
                if verdict != "resend" { return (Int(response.status.code), text) }
            }
        }
    }

    private func withFlow(
        _ memory: AuthenticationMemory = AuthenticationMemory(), storage: URLCredentialStorage? = nil,
        isProxied: Bool = false, over testedHTTP: TestedHTTP = .http1,
        _ body: (inout Flow, LupineOrigin.Origin) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        serving.enable(testedHTTP)
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        var configuration = HTTPClient.Configuration()
        configuration.ownLoops = 1
        configuration.versions = testedHTTP.versions
        if isProxied { configuration.proxy = .url(origin.url) }
        let client = HTTPClient(configuration: configuration)
        var flow = Flow(
            client: client, base: isProxied ? "http://far.test" : origin.url,
            scene: ChallengeScene(memory, storage: storage))
        let result: Result<Void, any Error>
        do { result = .success(try await body(&flow, origin)) } catch { result = .failure(error) }
        await client.shutdown()
        await origin.shutdown()
        try result.get()
    }

    static let user = "Mufasa/Circle%20of%20Life"
    static let digests = ["auth", "auth-int", "auth,auth-int"].flatMap { protection in
        ["MD5", "SHA-256", "SHA-512-256"].flatMap { algorithm in
            ["", "-sess"].map { (protection: protection, algorithm: algorithm + $0) }
        }
    }

    @Test("[U-11.9, U-11.10, U-11.6] every algorithm and protection, with a body", arguments: digests)
    func digest(protection: String, algorithm: String) async throws {
        try await withFlow { flow, _ in
            let path = "/digest-auth/\(protection)/\(Self.user)/\(algorithm)?x=%2F&y"
            let body = Data("to be protected".utf8)
            let answer = try await flow.load(path, "POST", body: body)
            #expect(answer.status == 200 && answer.text.contains("Mufasa"))
            #expect(flow.count == 2 && flow.scene.challenges.count == 1)
            // The credential is known now, and sent preemptively.
            let secondAnswer = try await flow.load(path, "POST", body: body)
            #expect(secondAnswer.status == 200 && flow.count == 3)
        }
    }

    @Test("[U-11.9] a server of RFC 2069", arguments: TestedHTTP.allCases)
    func oldDigest(over testedHTTP: TestedHTTP) async throws {
        try await withFlow(over: testedHTTP) { flow, _ in
            let answer = try await flow.load("/digest-auth/none/\(Self.user)/MD5")
            #expect(answer.status == 200 && flow.count == 2)
        }
    }

    @Test("[U-11.3] a challenge with an unknown algorithm: the 401 is final", arguments: TestedHTTP.allCases)
    func unknownAlgorithm(over testedHTTP: TestedHTTP) async throws {
        try await withFlow(over: testedHTTP) { flow, _ in
            let answer = try await flow.load("/digest-auth/auth/\(Self.user)/SHA-512")
            #expect(answer.status == 401 && flow.count == 1 && flow.scene.challenges.isEmpty)
        }
    }

    @Test("[U-11.13] the server declares each nonce stale after its use", arguments: TestedHTTP.allCases)
    func stale(over testedHTTP: TestedHTTP) async throws {
        try await withFlow(over: testedHTTP) { flow, _ in
            let path = "/digest-auth/auth/\(Self.user)/SHA-256-sess/1"
            for _ in 0..<3 {
                let answer = try await flow.load(path)
                #expect(answer.status == 200)
            }
            // A challenge and its answer; then twice a preemptive request with a stale nonce, and a resend with the new one.
            #expect(flow.count == 6 && flow.scene.challenges.count == 1)
        }
    }

    @Test("[U-11.13] nextnonce saves a round trip", arguments: TestedHTTP.allCases)
    func nextNonce(over testedHTTP: TestedHTTP) async throws {
        try await withFlow(over: testedHTTP) { flow, _ in
            let path = "/digest-auth/auth/\(Self.user)/MD5?nextnonce=1"
            for _ in 0..<3 {
                let answer = try await flow.load(path)
                #expect(answer.status == 200)
            }
            #expect(flow.count == 4 && flow.scene.challenges.count == 1)
        }
    }

    @Test(
        "[U-11.4, U-11.5] a wrong password costs one round trip, and the 401 is delivered",
        arguments: TestedHTTP.allCases)
    func wrongPassword(over testedHTTP: TestedHTTP) async throws {
        let wrong = URLCredential(user: "Mufasa", password: "x", persistence: .forSession)
        for path in ["/digest-auth/auth/\(Self.user)/MD5", "/basic-auth/\(Self.user)"] {
            try await withFlow(over: testedHTTP) { flow, _ in
                let answer = try await flow.load(path, as: wrong)
                #expect(answer.status == 401 && flow.count == 2)
                #expect(flow.scene.challenges.map(\.previousFailureCount) == [0, 1])
            }
        }
    }

    @Test(
        "[U-11.8, U-11.15] Basic is sent unasked beside an accepted path, and not above it",
        arguments: TestedHTTP.allCases)
    func basic(over testedHTTP: TestedHTTP) async throws {
        let credential = URLCredential(user: "test", password: "123£", persistence: .forSession)
        try await withFlow(over: testedHTTP) { flow, _ in
            let answer = try await flow.load("/basic-auth/test/123%C2%A3", as: credential)
            #expect(answer.status == 200 && flow.count == 2)
            let space = try #require(flow.scene.lastChallenge?.protectionSpace)
            #expect(space.realm == "Fake Realm")
            // Answers 404 without credentials. They are not sent preemptively here, outside the protection space.
            let hidden = try await flow.load("/hidden-basic-auth/test/123%C2%A3", as: credential)
            #expect(hidden.status == 404)
            let secondAnswer = try await flow.load("/basic-auth/test/123%C2%A3", as: credential)
            #expect(secondAnswer.status == 200 && flow.count == 4)
        }
    }

    @Test(
        "[U-11.12] a user name that is not ASCII, and a hashed one, reach the origin",
        arguments: TestedHTTP.allCases)
    func names(over testedHTTP: TestedHTTP) async throws {
        let credential = URLCredential(user: "Jäsøn Doe", password: "Secret, or not?", persistence: .none)
        for (more, expected) in [
            ("charset=UTF-8", "username*=UTF-8''J%C3%A4s%C3%B8n%20Doe"),
            (
                "charset=UTF-8, userhash=true",
                "username=\"\(AuthenticatorTests.digits(MessageDigest.sha256.digest(of: Array("Jäsøn Doe:r".utf8))))\""
            ),
        ] {
            try await withFlow(over: testedHTTP) { flow, origin in
                origin.route("GET", "/named") { request throws(Refusal) in
                    let receivedField = request.field("authorization") ?? ""
                    if receivedField.contains(expected) { return OriginResponse(204) }
                    var refusal = OriginResponse(401)
                    try refusal.add(
                        "WWW-Authenticate",
                        "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-256, qop=auth, \(more)")
                    return refusal
                }
                let answer = try await flow.load("/named", as: credential)
                #expect(answer.status == 204 && flow.count == 2)
            }
        }
    }

    @Test(
        "[U-11.10, U-11.17] through a forwarding proxy, proxy and origin may challenge; the target is in absolute form"
    )
    func proxied() async throws {
        try await withFlow(isProxied: true) { flow, origin in
            origin.route("GET", "/behind") { request throws(Refusal) in
                let receivedField = request.field("proxy-authorization") ?? ""
                guard receivedField.contains("uri=\"http://far.test/behind?x\"") else {
                    var refusal = OriginResponse(407)
                    try refusal.add("Proxy-Authenticate", "Digest realm=\"p\", nonce=\"n\", qop=auth")
                    return refusal
                }
                return OriginResponse(204)
            }
            let proxy = AuthenticationProxy(
                ProxyServer(kind: .http, host: "127.0.0.1", port: origin.port),
                for: try #require(URL(string: "http://far.test/")))
            let behind = try await flow.load("/behind?x", proxy: proxy)
            #expect(behind.status == 204 && flow.count == 2)
            let digest = try await flow.load("/digest-auth/auth/\(Self.user)/SHA-256?q", proxy: proxy)
            #expect(digest.status == 200 && flow.count == 4)
            #expect(flow.scene.challenges.map { $0.protectionSpace.isProxy() } == [true, false])
        }
    }
}
