// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Challenges through whole sessions.
@Suite struct AuthenticationSessionTests {
    /// A delegate that answers challenges with the test's closure.
    private final class AnsweringDelegate: NSObject, URLSessionDataDelegate, Sendable {
        let counts = LockedValue<[Int]>([])
        let methods = LockedValue<[String]>([])
        private let answer:
            @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)

        init(
            _ answer:
                @escaping @Sendable (URLAuthenticationChallenge) -> (
                    URLSession.AuthChallengeDisposition, URLCredential?
                )
        ) { self.answer = answer }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            counts.update { $0.append(challenge.previousFailureCount) }
            methods.update { $0.append(challenge.protectionSpace.authenticationMethod) }
            let (disposition, credential) = answer(challenge)
            completionHandler(disposition, credential)
        }
    }

    private static let credential = URLCredential(
        user: "Mufasa", password: "Circle of Life", persistence: .forSession)
    private static let digest = "/digest-auth/auth-int/Mufasa/Circle%20of%20Life/SHA-256"
    private static let basic = "/basic-auth/Mufasa/Circle%20of%20Life"

    private func withSession(
        _ delegate: AnsweringDelegate? = nil,
        configure: (URLSessionConfiguration, LupineOrigin.Origin) -> Void = { _, _ in },
        serving: OriginConfiguration = OriginConfiguration(), over testedHTTP: TestedHTTP = .http1,
        _ body: (URLSession, LupineOrigin.Origin) async throws -> Void
    ) async throws {
        var serving = serving
        serving.recordedBytes = 1 << 20
        serving.enable(testedHTTP)
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        // Long, so that no time-out ends a test on a busy machine.
        configuration.timeoutIntervalForRequest = 3_600
        if testedHTTP == .http2 { configuration.lupine.httpVersions = .http2 }
        configure(configuration, origin)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let result: Result<Void, any Error>
        do { result = .success(try await body(session, origin)) } catch { result = .failure(error) }
        session.invalidateAndCancel()
        await origin.shutdown()
        try result.get()
    }

    private func load(
        _ session: URLSession, _ text: String, _ change: (inout URLRequest) -> Void = { _ in }
    ) async throws -> (Int, String) {
        var request = URLRequest(url: try #require(URL(string: text)))
        change(&request)
        let (data, response) = try await session.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }

    @Test(
        "[U-11.6, U-11.10] a delegate's credential is used; method and body are sent again on the same connection",
        arguments: TestedHTTP.allCases
    )
    func answers(over testedHTTP: TestedHTTP) async throws {
        let delegate = AnsweringDelegate { _ in (.useCredential, Self.credential) }
        for path in [Self.digest, Self.basic] {
            // With a second connection allowed, the resend might use that one before the first has been drained.
            let configure = { (configuration: URLSessionConfiguration, _: LupineOrigin.Origin) in
                configuration.httpMaximumConnectionsPerHost = 1
            }
            try await withSession(delegate, configure: configure, over: testedHTTP) { session, origin in
                let (status, text) = try await load(session, origin.url + path) {
                    $0.httpMethod = "POST"
                    $0.httpBody = Data("what is protected".utf8)
                }
                #expect(status == 200 && text.contains("Mufasa"))
                let wire = String(decoding: origin.receivedAsHTTP1(on: 0), as: UTF8.self)
                #expect(wire.components(separatedBy: "what is protected").count == 3)
                #expect(wire.components(separatedBy: "POST ").count == 3)
            }
        }
        #expect(delegate.counts.value == [0, 0])
    }

    @Test(
        "[U-11.15] a session sends known credentials unasked, for tasks with the same credential",
        arguments: TestedHTTP.allCases)
    func unasked(over testedHTTP: TestedHTTP) async throws {
        let delegate = AnsweringDelegate { _ in (.performDefaultHandling, nil) }
        try await withSession(delegate, over: testedHTTP) { session, origin in
            let named = origin.url.replacing("http://", with: "http://Mufasa:Circle%20of%20Life@")
            for _ in 0..<3 {
                let (status, _) = try await load(session, named + Self.digest)
                #expect(status == 200)
            }
        }
        #expect(delegate.counts.value == [0])
    }

    @Test(
        "[U-11.4, U-11.5] a wrong password ends with the 401 as an ordinary response",
        arguments: TestedHTTP.allCases)
    func wrong(over testedHTTP: TestedHTTP) async throws {
        let wrong = URLCredential(user: "Mufasa", password: "x", persistence: .forSession)
        let delegate = AnsweringDelegate { challenge in
            challenge.previousFailureCount == 0 ? (.useCredential, wrong) : (.rejectProtectionSpace, nil)
        }
        try await withSession(delegate, over: testedHTTP) { session, origin in
            let (status, _) = try await load(session, origin.url + Self.basic)
            #expect(status == 401)
        }
        #expect(delegate.counts.value == [0, 1])
    }

    @Test("[U-11.5] a cancelled challenge fails the task as cancelled", arguments: TestedHTTP.allCases)
    func cancelled(over testedHTTP: TestedHTTP) async throws {
        let delegate = AnsweringDelegate { _ in (.cancelAuthenticationChallenge, nil) }
        try await withSession(delegate, over: testedHTTP) { session, origin in
            let error = await #expect(throws: URLError.self) {
                _ = try await load(session, origin.url + Self.basic)
            }
            #expect(error?.code == .cancelled)
        }
    }

    @Test(
        "[U-11.4, U-11.16] without a delegate the URL's user is used, and is not stored",
        arguments: TestedHTTP.allCases)
    func user(over testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            let named = origin.url.replacing("http://", with: "http://Mufasa:Circle%20of%20Life@")
            let (status, _) = try await load(session, named + Self.basic)
            #expect(status == 200)
            #expect(session.configuration.urlCredentialStorage?.allCredentials.isEmpty == true)
            // Neither another session with that storage nor a task of this one without a credential is authenticated.
            let next = URLSession(configuration: session.configuration)
            for other in [next, session] {
                let (secondStatus, _) = try await load(other, origin.url + Self.basic)
                #expect(secondStatus == 401)
            }
            next.invalidateAndCancel()
        }
    }

    @Test("[U-11.17] a forwarding proxy challenges, and gets Proxy-Authorization")
    func proxy() async throws {
        let delegate = AnsweringDelegate { challenge in
            #expect(challenge.protectionSpace.isProxy() && challenge.protectionSpace.host == "127.0.0.1")
            return (.useCredential, Self.credential)
        }
        try await withSession(delegate) { configuration, origin in
            configuration.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(origin.port),
            ]
        } _: { session, origin in
            origin.route("GET", "/behind") { request throws(Refusal) in
                let receivedField = request.field("proxy-authorization") ?? ""
                guard receivedField.contains("uri=\"http://far.test/behind\"") else {
                    var refusal = OriginResponse(407)
                    try refusal.add("Proxy-Authenticate", "Digest realm=\"p\", nonce=\"n\", qop=auth")
                    return refusal
                }
                return OriginResponse(200)
            }
            let (status, _) = try await load(session, "http://far.test/behind")
            #expect(status == 200)
        }
        #expect(delegate.counts.value == [0])
    }

    @Test(
        "[U-11.17] a refused tunnel is answered with Digest in a new CONNECT; a final refusal fails the task"
    )
    func tunnel() async throws {
        let challenge = Script([
            .expectHead,
            .send("HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\", qop=auth\r\n\r\n"),
        ])
        let refusal = Script([.expectHead, .send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")])
        var serving = OriginConfiguration()
        serving.script = ScriptPlan([challenge, refusal])
        let delegate = AnsweringDelegate { _ in (.useCredential, Self.credential) }
        let configure = { (configuration: URLSessionConfiguration, origin: LupineOrigin.Origin) in
            configuration.connectionProxyDictionary = [
                "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(origin.port),
            ]
        }
        try await withSession(delegate, configure: configure, serving: serving) { session, origin in
            let error = await #expect(throws: URLError.self) {
                _ = try await load(session, "https://far.test/")
            }
            #expect(error?.code == .cannotConnectToHost)
            let connect = String(decoding: origin.received(on: 1), as: UTF8.self)
            #expect(connect.hasPrefix("CONNECT far.test:443 HTTP/1.1\r\n"))
            #expect(connect.contains("uri=\"far.test:443\"") && connect.contains("nc=00000001"))
            let cause = (error?.userInfo[NSUnderlyingErrorKey]).map { "\($0)" } ?? ""
            #expect(cause.contains("403"))
        }
        #expect(delegate.counts.value == [0])
    }
}
