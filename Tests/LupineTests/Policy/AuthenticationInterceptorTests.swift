// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The authentication interceptor in a session, with a scripted authenticator.
@Suite struct AuthenticationInterceptorTests {
    struct Token: AuthenticationCredential, Equatable {
        var name: String
        var requiresRefresh = false
    }

    struct Refused: Error {}

    /// Refreshes with a given closure, and records its calls.
    final class ScriptedAuthenticator: Authenticator {
        typealias Refresh = @Sendable (Token, @escaping @Sendable (Result<Token, any Error>) -> Void) -> Void

        let calls = Protected<[String]>([])
        private let onRefresh: Refresh

        init(_ onRefresh: @escaping Refresh = { _, completion in completion(.success(Token(name: "new"))) }) {
            self.onRefresh = onRefresh
        }

        func apply(_ credential: Token, to urlRequest: inout URLRequest) {
            calls.write { $0.append("apply \(credential.name)") }
            urlRequest.setValue(credential.name, forHTTPHeaderField: "Authorization")
        }

        func refresh(
            _ credential: Token, for session: Session,
            completion: @escaping @Sendable (Result<Token, any Error>) -> Void
        ) {
            calls.write { $0.append("refresh \(credential.name)") }
            onRefresh(credential, completion)
        }

        func didRequest(
            _ urlRequest: URLRequest, with response: HTTPURLResponse,
            failDueToAuthenticationError error: any Error
        ) -> Bool {
            response.statusCode == 401
        }

        func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Token) -> Bool {
            urlRequest.value(forHTTPHeaderField: "Authorization") == credential.name
        }

        var refreshes: [String] { calls.read { $0.filter { $0.hasPrefix("refresh") } } }
    }

    typealias Interceptor = AuthenticationInterceptor<ScriptedAuthenticator>

    /// Runs `body` with an origin whose `/secret` accepts only the tokens of this name.
    private static func withSecret(
        _ good: String = "new", over testedHTTP: TestedHTTP = .http1,
        _ body: (PolicyStage) async throws -> Void
    )
        async throws
    {
        try await PolicyStage.run(over: testedHTTP) { stage in
            stage.origin.route("GET", "/secret") { request throws(Refusal) in
                let text = [request.field("Authorization") ?? "-", request.field("X-Earlier") ?? "-"]
                return try OriginResponse(
                    text[0] == good ? 200 : 401, "text/plain", Array(text.joined(separator: " ").utf8))
            }
            try await body(stage)
        }
    }

    @Test("the refresh window has default values, and the credential can be read and set")
    func values() {
        let window = Interceptor.RefreshWindow()
        #expect(window.interval == 30 && window.maximumAttempts == 5)
        let interceptor = Interceptor(authenticator: ScriptedAuthenticator())
        #expect(interceptor.credential == nil)
        interceptor.credential = Token(name: "set")
        #expect(interceptor.credential == Token(name: "set"))
    }

    @Test(
        "[I-5.2] [I-5.8] a missing credential fails the adaptation and the retry",
        arguments: TestedHTTP.allCases
    )
    func missingCredential(over testedHTTP: TestedHTTP) async throws {
        try await Self.withSecret(over: testedHTTP) { stage in
            let interceptor = Interceptor(authenticator: ScriptedAuthenticator())
            try await stage.withSession { session in
                let response = await session.request(stage.url("/secret"), interceptor: interceptor)
                    .awaitResponse()
                guard case .requestAdaptationFailed(AuthenticationError.missingCredential)? = response.error
                else {
                    Issue.record("\(String(describing: response.error))")
                    return
                }
                let refused = session.request(stage.url("/secret"))
                _ = await refused.awaitResponse()
                let answer = await interceptor.answer(refused, for: session, dueTo: Refused())
                #expect(answer.text == "fail: missingCredential")
            }
        }
    }

    @Test(
        "[I-5.3] [I-5.12] [I-5.13] an expired credential is refreshed first, also synchronously",
        arguments: TestedHTTP.allCases
    )
    func expired(over testedHTTP: TestedHTTP) async throws {
        try await Self.withSecret(over: testedHTTP) { stage in
            let authenticator = ScriptedAuthenticator()
            let interceptor = Interceptor(
                authenticator: authenticator, credential: Token(name: "old", requiresRefresh: true))
            try await stage.withSession(interceptor: interceptor) { session in
                let request = session.request(stage.url("/secret")).validate()
                #expect(await request.awaitTextResponse().value == "new -")
                #expect(request.retryCount == 0)
            }
            #expect(authenticator.calls.read { $0 } == ["refresh old", "apply new"])
            #expect(interceptor.credential == Token(name: "new"))
        }
    }

    @Test(
        "[I-5.4] a valid credential is applied synchronously, to a copy of the request",
        arguments: TestedHTTP.allCases)
    func appliedAtOnce(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            try await stage.withSession { session in
                let interceptor = Interceptor(
                    authenticator: ScriptedAuthenticator(), credential: Token(name: "a"))
                let request = try URLRequest(url: stage.url(), method: .get)
                let adapted = Protected<URLRequest?>(nil)
                interceptor.adapt(request, for: session) { result in adapted.write { $0 = try? result.get() }
                }
                #expect(adapted.read { $0 }?.value(forHTTPHeaderField: "Authorization") == "a")
                #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
            }
        }
    }

    @Test(
        "[I-5.6] [I-5.7] failures that are not due to authentication are not retried",
        arguments: TestedHTTP.allCases)
    func otherFailures(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            let authenticator = ScriptedAuthenticator()
            let interceptor = Interceptor(authenticator: authenticator, credential: Token(name: "a"))
            stage.origin.answer("GET", "/cut", ScriptPlan(.close))
            try await stage.withSession(startRequestsImmediately: false) { session in
                let unmade = session.request(stage.url())
                #expect(
                    await interceptor.answer(unmade, for: session, dueTo: Refused()).text == "do not retry")
                for path in ["/cut", "/status/403", "/status/500"] {
                    let request = session.request(stage.url(path), interceptor: interceptor).validate()
                    #expect(await request.resume().awaitResponse().error != nil)
                    #expect(request.retryCount == 0)
                }
            }
            #expect(authenticator.refreshes == [])
        }
    }

    @Test(
        "[I-5.9] a request with an older credential is retried without a refresh",
        arguments: TestedHTTP.allCases)
    func olderCredential(over testedHTTP: TestedHTTP) async throws {
        try await Self.withSecret(over: testedHTTP) { stage in
            let authenticator = ScriptedAuthenticator()
            let interceptor = Interceptor(authenticator: authenticator, credential: Token(name: "old"))
            try await stage.withSession { session in
                let request = session.request(stage.url("/secret"), interceptor: interceptor)
                _ = await request.awaitResponse()
                interceptor.credential = Token(name: "set")
                let answer = await interceptor.answer(request, for: session, dueTo: Refused())
                #expect(answer.text == "retry" && authenticator.refreshes == [])
            }
        }
    }

    @Test(
        "[I-5.10] a rejected credential is refreshed, and the request sent again with the new one",
        arguments: TestedHTTP.allCases)
    func refused(over testedHTTP: TestedHTTP) async throws {
        try await Self.withSecret(over: testedHTTP) { stage in
            let authenticator = ScriptedAuthenticator()
            let interceptor = Interceptor(authenticator: authenticator, credential: Token(name: "old"))
            try await stage.withSession(interceptor: interceptor) { session in
                let request = session.request(stage.url("/secret")).validate()
                #expect(await request.awaitTextResponse().value == "new -")
                #expect(request.retryCount == 1 && request.requests.count == 4)
            }
            #expect(authenticator.calls.read { $0 } == ["apply old", "refresh old", "apply new"])
        }
    }

    @Test("[I-5.11] [I-5.14] too many refreshes fail with excessiveRefresh", arguments: TestedHTTP.allCases)
    func excessive(over testedHTTP: TestedHTTP) async throws {
        try await Self.withSecret("never", over: testedHTTP) { stage in
            let authenticator = ScriptedAuthenticator { old, completion in
                completion(.success(Token(name: old.name + "+")))
            }
            let interceptor = Interceptor(
                authenticator: authenticator, credential: Token(name: "a"),
                refreshWindow: .init(interval: 3_600, maximumAttempts: 3))
            try await stage.withSession(interceptor: interceptor) { session in
                let request = session.request(stage.url("/secret")).validate()
                let response = await request.awaitResponse()
                guard
                    case .requestRetryFailed(AuthenticationError.excessiveRefresh, let original)? = response
                        .error
                else {
                    Issue.record("\(String(describing: response.error))")
                    return
                }
                #expect(original.asAFError?.responseCode == 401)
                #expect(request.retryCount == 3)
            }
            #expect(authenticator.refreshes == ["refresh a", "refresh a+", "refresh a++"])
        }
    }

    @Test(
        "[I-5.13] a new credential that has expired already is refreshed until the window is exhausted",
        arguments: TestedHTTP.allCases)
    func staysExpired(over testedHTTP: TestedHTTP) async throws {
        try await Self.withSecret(over: testedHTTP) { stage in
            let authenticator = ScriptedAuthenticator { old, completion in
                completion(.success(Token(name: old.name + "+", requiresRefresh: true)))
            }
            let interceptor = Interceptor(
                authenticator: authenticator, credential: Token(name: "a", requiresRefresh: true),
                refreshWindow: .init(interval: 3_600, maximumAttempts: 2))
            try await stage.withSession(interceptor: interceptor) { session in
                let response = await session.request(stage.url("/secret")).awaitResponse()
                guard case .requestAdaptationFailed(AuthenticationError.excessiveRefresh)? = response.error
                else {
                    Issue.record("\(String(describing: response.error))")
                    return
                }
            }
            #expect(authenticator.refreshes == ["refresh a", "refresh a+"])
        }
    }

    @Test(
        "[I-5.14] a failed refresh fails the waiting requests with its error, without a retry",
        arguments: TestedHTTP.allCases)
    func refreshFails(over testedHTTP: TestedHTTP) async throws {
        try await Self.withSecret(over: testedHTTP) { stage in
            let authenticator = ScriptedAuthenticator { _, completion in completion(.failure(Refused())) }
            let expired = Interceptor(
                authenticator: authenticator, credential: Token(name: "old", requiresRefresh: true))
            let refused = Interceptor(authenticator: authenticator, credential: Token(name: "old"))
            try await stage.withSession { session in
                let first = session.request(stage.url("/secret"), interceptor: expired)
                guard case .requestAdaptationFailed(is Refused)? = await first.awaitResponse().error else {
                    Issue.record("\(String(describing: first.error))")
                    return
                }
                let second = session.request(stage.url("/secret"), interceptor: refused).validate()
                guard case .requestRetryFailed(is Refused, _)? = await second.awaitResponse().error else {
                    Issue.record("\(String(describing: second.error))")
                    return
                }
                #expect(second.retryCount == 0)
            }
        }
    }

    @Test(
        "[I-5.16] a request that waited keeps the changes of earlier adapters, which run once",
        arguments: TestedHTTP.allCases)
    func adaptersBefore(over testedHTTP: TestedHTTP) async throws {
        try await Self.withSecret(over: testedHTTP) { stage in
            let runs = Protected(0)
            let earlier = Adapter { request, _, completion in
                runs.write { $0 += 1 }
                var request = request
                request.setValue("kept", forHTTPHeaderField: "X-Earlier")
                completion(.success(request))
            }
            let interceptor = Interceptor(
                authenticator: ScriptedAuthenticator(), credential: Token(name: "old", requiresRefresh: true))
            try await stage.withSession(interceptor: earlier) { session in
                let request = session.request(stage.url("/secret"), interceptor: interceptor).validate()
                #expect(await request.awaitTextResponse().value == "new kept")
            }
            #expect(runs.read { $0 } == 1)
        }
    }

    @Test(
        "[I-5.17] a credential set during a refresh is used, and the refresh's result is dropped",
        arguments: TestedHTTP.allCases)
    func setDuringRefresh(over testedHTTP: TestedHTTP) async throws {
        try await Self.withSecret("set", over: testedHTTP) { stage in
            let held = Protected<(@Sendable (Result<Token, any Error>) -> Void)?>(nil)
            let (began, beginning) = AsyncStream<Void>.makeStream()
            let authenticator = ScriptedAuthenticator { _, completion in
                held.write { $0 = completion }
                beginning.yield()
            }
            let interceptor = Interceptor(authenticator: authenticator, credential: Token(name: "old"))
            try await stage.withSession(interceptor: interceptor) { session in
                async let waiting = session.request(stage.url("/secret")).validate().awaitTextResponse()
                for await _ in began { break }
                interceptor.credential = Token(name: "set")
                let other = await session.request(stage.url("/secret")).validate().awaitTextResponse()
                #expect(other.value == "set -")
                held.read { $0 }?(.success(Token(name: "set")))
                #expect(await waiting.value == "set -")
            }
            held.write(nil)
            #expect(authenticator.refreshes == ["refresh old"])
        }
    }

    @Test(
        "[I-5.18] [I-5.1] 500 requests whose token expires in flight succeed after one refresh",
        arguments: TestedHTTP.allCases)
    func storm(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            let server = OAuthServer(uses: 250)
            server.serve(at: stage.origin)
            try await stage.withSession { tokens in
                let interceptor = AuthenticationInterceptor(
                    authenticator: OAuthAuthenticator(tokens: tokens, tokenURL: stage.url("/token")),
                    credential: OAuthCredential(accessToken: "token-0", refreshToken: "refresh-0"))
                try await stage.withSession(
                    interceptor: interceptor, configure: { $0.httpMaximumConnectionsPerHost = 32 }
                ) { session in
                    let results = await withTaskGroup(of: (String?, Int).self) { group in
                        for _ in 0..<500 {
                            group.addTask {
                                let request = session.request(stage.url("/resource")).validate()
                                return (await request.awaitTextResponse().value, request.retryCount)
                            }
                        }
                        return await group.reduce(into: []) { $0.append($1) }
                    }
                    #expect(results.count == 500 && results.allSatisfy { $0.0 == "ok" && $0.1 <= 1 })
                    let state = server.state.read { $0 }
                    #expect(state.refreshes == 1 && state.served == 500)
                    #expect(state.refused >= 1 && state.refused == results.map(\.1).reduce(0, +))
                    #expect(interceptor.credential?.accessToken == "token-1")
                }
            }
        }
    }

    @Test(
        "[I-5.1] [I-5.18] 500 requests with an expired token wait for one refresh",
        arguments: TestedHTTP.allCases
    )
    func expiredStorm(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            let server = OAuthServer(uses: 0)
            server.serve(at: stage.origin)
            try await stage.withSession { tokens in
                let interceptor = AuthenticationInterceptor(
                    authenticator: OAuthAuthenticator(tokens: tokens, tokenURL: stage.url("/token")),
                    credential: OAuthCredential(
                        accessToken: "token-0", refreshToken: "refresh-0", requiresRefresh: true))
                try await stage.withSession(interceptor: interceptor) { session in
                    let results = await withTaskGroup(of: String?.self) { group in
                        for _ in 0..<500 {
                            group.addTask {
                                await session.request(stage.url("/resource")).validate().awaitTextResponse()
                                    .value
                            }
                        }
                        return await group.reduce(into: []) { $0.append($1) }
                    }
                    #expect(results.allSatisfy { $0 == "ok" })
                    let state = server.state.read { $0 }
                    #expect(state.refreshes == 1 && state.served == 500 && state.refused == 0)
                }
            }
        }
    }
}
