// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// A session's answers to challenges: credentials, and the results of its trust manager's evaluators.
@Suite struct SessionTrustTests {
    private typealias Fixture = TrustFixture

    private struct Refused: Error {}

    /// An evaluator that calls a closure.
    private final class ClosureTrustEvaluator: ServerTrustEvaluating {
        let body: @Sendable (SecTrust, String) throws -> Void

        init(_ body: @escaping @Sendable (SecTrust, String) throws -> Void) { self.body = body }

        func evaluate(_ trust: SecTrust, forHost host: String) throws { try body(trust, host) }
    }

    /// A manager that finds one evaluator for every host below a domain.
    private final class WildcardManager: ServerTrustManager, @unchecked Sendable {
        override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
            host.hasSuffix(".test") ? evaluators["*.test"] : try super.serverTrustEvaluator(forHost: host)
        }
    }

    // MARK: the manager

    @Test("[I-9.1] an evaluator is found only for its exact host")
    func exactMatch() throws {
        let evaluator = DisabledTrustEvaluator()
        let manager = ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: ["good.test": evaluator])
        #expect(try manager.serverTrustEvaluator(forHost: "good.test") is DisabledTrustEvaluator)
        for host in ["GOOD.test", "good.test..", "www.good.test", "test", "good.test:443", ""] {
            #expect(try manager.serverTrustEvaluator(forHost: host) == nil, "\(host)")
        }
    }

    @Test("[I-9.2] a host without an evaluator is refused, or left to the loading system")
    func miss() throws {
        let strict = ServerTrustManager(evaluators: [:])
        #expect(strict.allHostsMustBeEvaluated)
        let error = #expect(throws: AFError.self) { try strict.serverTrustEvaluator(forHost: "a.test") }
        guard case .serverTrustEvaluationFailed(.noRequiredEvaluator(host: "a.test"))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let lenient = ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:])
        #expect(try lenient.serverTrustEvaluator(forHost: "a.test") == nil)
    }

    @Test("[I-9.3] a subclass of the manager may choose the evaluators", arguments: TestedHTTP.allCases)
    func subclass(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(leaf: "expired", over: testedHTTP) { stage in
            let manager = WildcardManager(evaluators: ["*.test": DisabledTrustEvaluator()])
            try await stage.withSession(trust: manager) { session in
                let response = await session.request(stage.url(host: "any.test", isSecure: true))
                    .awaitResponse()
                #expect(response.response?.statusCode == 200)
                let other = await session.request(stage.url(host: "localhost", isSecure: true))
                    .awaitResponse()
                #expect(other.error.map(Fixture.name) == "noRequiredEvaluator")
            }
        }
    }

    @Test("[I-9.4] no evaluator is called for a server without TLS", arguments: TestedHTTP.allCases)
    func plain(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            try await stage.withSession(trust: ServerTrustManager(evaluators: [:])) { session in
                #expect(await session.request(stage.url()).awaitResponse().response?.statusCode == 200)
            }
        }
    }

    // MARK: server trust

    @Test(
        "[I-8.4] the evaluator decides alone, and the request fails with the error that it throws",
        arguments: TestedHTTP.allCases)
    func verdicts(over testedHTTP: TestedHTTP) async throws {
        let rows: [(leaf: String, evaluator: any ServerTrustEvaluating, verdict: String)] = [
            ("good", ClosureTrustEvaluator { _, _ in }, "trusted"),
            ("expired", ClosureTrustEvaluator { _, _ in }, "trusted"),
            ("good", ClosureTrustEvaluator { _, _ in throw Refused() }, "customEvaluationFailed"),
            (
                "good",
                ClosureTrustEvaluator { _, _ in
                    throw AFError.serverTrustEvaluationFailed(reason: .noPublicKeysFound)
                },
                "noPublicKeysFound"
            ),
            ("expired", DefaultTrustEvaluator(), "trustEvaluationFailed"),
        ]
        for row in rows {
            try await PolicyStage.run(leaf: row.leaf, over: testedHTTP) { stage in
                let manager = ServerTrustManager(evaluators: ["localhost": row.evaluator])
                try await stage.withSession(trust: manager) { session in
                    let response = await session.request(stage.url(isSecure: true)).awaitResponse()
                    let found = response.error.map(Fixture.name) ?? "trusted"
                    #expect(found == row.verdict && (response.response == nil) == (response.error != nil))
                    if row.verdict == "customEvaluationFailed" {
                        #expect(response.error?.underlyingError is Refused)
                    }
                }
            }
        }
    }

    @Test(
        "[I-8.5] a refused server cancels the task, and the request and the retriers receive the error",
        arguments: TestedHTTP.allCases
    )
    func refusal(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(leaf: "good", over: testedHTTP) { stage in
            let receivedErrors = Protected<[String]>([])
            let retrier = Retrier { request, _, error, completion in
                receivedErrors.write { $0.append(Fixture.name(of: error)) }
                completion(request.retryCount < 1 ? .retry : .doNotRetry)
            }
            let manager = ServerTrustManager(evaluators: [
                "localhost": ClosureTrustEvaluator { _, _ in throw Refused() }
            ])
            try await stage.withSession(interceptor: retrier, trust: manager) { session in
                let request = session.request(stage.url(isSecure: true)).validate()
                let response = await request.awaitResponse()
                #expect(response.error.map(Fixture.name) == "customEvaluationFailed")
                #expect(request.tasks.count == 2 && request.allMetrics.count == 2)
                for task in request.tasks { #expect((task.error as? URLError)?.code == .cancelled) }
            }
            #expect(receivedErrors.read { $0 } == ["customEvaluationFailed", "customEvaluationFailed"])
        }
    }

    @Test(
        "[I-8.6] [I-8.7] an evaluator is called on the root queue, with the URL's host without a port",
        arguments: TestedHTTP.allCases
    )
    func queueAndHost(over testedHTTP: TestedHTTP) async throws {
        let key = DispatchSpecificKey<String>()
        let root = DispatchQueue(label: "root")
        root.setSpecific(key: key, value: "root")
        for (urlHost, evaluatedHost) in [
            ("LOCALHOST", "localhost"), ("localhost", "localhost"), ("127.0.0.1", "127.0.0.1"),
        ] {
            try await PolicyStage.run(leaf: "good", over: testedHTTP) { stage in
                let seen = Protected<[String]>([])
                let evaluator = ClosureTrustEvaluator { _, host in
                    seen.write { $0.append("\(DispatchQueue.getSpecific(key: key) ?? "elsewhere") \(host)") }
                }
                let session = Session(
                    configuration: try stage.configuration(), rootQueue: root,
                    serverTrustManager: ServerTrustManager(evaluators: [evaluatedHost: evaluator]),
                    eventMonitors: [])
                defer { session.session.invalidateAndCancel() }
                let response = await session.request(stage.url(host: urlHost, isSecure: true)).awaitResponse()
                #expect(response.response?.statusCode == 200, "\(urlHost)")
                #expect(seen.read { $0 } == ["root \(evaluatedHost)"])
            }
        }
    }

    // MARK: credentials

    @Test(
        "[I-8.1] [I-8.2] a request's credential is used once; a wrong one leaves the 401 as the response",
        arguments: TestedHTTP.allCases)
    func credentials(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            let rows: [(password: String?, status: Int)] = [("passwd", 200), ("wrong", 401), (nil, 401)]
            for row in rows {
                try await stage.withSession { session in
                    let request = session.request(stage.url("/basic-auth/user/passwd"))
                    if let password = row.password {
                        request.authenticate(username: "user", password: password)
                    }
                    let before = stage.origin.counts.requests
                    let response = await request.awaitResponse()
                    #expect(response.response?.statusCode == row.status && response.error == nil)
                    #expect(stage.origin.counts.requests - before == (row.password == nil ? 1 : 2))
                }
            }
        }
    }

    @Test(
        "[I-8.1] the storage's default credential is used if the request has none",
        arguments: TestedHTTP.allCases)
    func storedCredential(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            let storage = URLCredentialStorage()
            try await stage.withSession(configure: { $0.urlCredentialStorage = storage }) { session in
                let seen = Protected<URLProtectionSpace?>(nil)
                let monitor = ClosureEventMonitor()
                monitor.taskDidReceiveChallenge = { _, _, challenge in
                    seen.write { $0 = challenge.protectionSpace }
                }
                let first = Session(
                    configuration: session.session.configuration, eventMonitors: [monitor])
                defer { first.session.invalidateAndCancel() }
                let refused = await first.request(stage.url("/basic-auth/user/passwd")).awaitResponse()
                #expect(refused.response?.statusCode == 401)
                let space = try #require(seen.read { $0 })
                let credential = URLCredential(user: "user", password: "passwd", persistence: .forSession)
                storage.setDefaultCredential(credential, for: space)
                let response = await session.request(stage.url("/basic-auth/user/passwd")).awaitResponse()
                #expect(response.response?.statusCode == 200)
            }
        }
    }

    @Test(
        "[I-8.3] the last credential is used, for the session by default, and by retries",
        arguments: TestedHTTP.allCases)
    func lastCredential(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            try await stage.withSession(interceptor: .retryPolicy(exponentialBackoffScale: 0)) { session in
                let request = session.request(stage.url("/basic-auth/user/passwd"))
                    .authenticate(username: "user", password: "wrong")
                    .authenticate(username: "user", password: "passwd")
                #expect(request.credential?.persistence == .forSession)
                #expect(await request.awaitResponse().response?.statusCode == 200)
                let again = session.request(stage.url("/status/503")).validate()
                    .authenticate(username: "user", password: "passwd")
                _ = await again.awaitResponse()
                #expect(again.retryCount == 2 && again.credential?.user == "user")
            }
        }
    }
}
