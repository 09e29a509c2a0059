// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// The retrier that waits for a connection, on a scripted network.
@Suite struct OfflineRetrierTests {
    private typealias Network = ScriptedNetwork

    private struct Failed: Error {}

    private static let offline = AFError.sessionTaskFailed(error: URLError(.notConnectedToInternet))

    private static func retrier(
        _ network: Network, wait: DispatchTimeInterval = .seconds(600)
    ) -> OfflineRetrier {
        let view = network.view
        return OfflineRetrier(monitor: NWPathMonitor(view: view) { _ in true }, maximumWait: wait)
    }

    /// Runs `body` with a session and a request that is never sent.
    private static func withRequest(_ body: (Session, DataRequest) async throws -> Void) async throws {
        let session = Session(startRequestsImmediately: false, eventMonitors: [])
        defer { session.session.invalidateAndCancel() }
        try await body(session, session.request("http://127.0.0.1:1/"))
    }

    @Test("[I-4.1] an error means \"offline\" at any depth of underlying errors")
    func predicate() {
        let rows: [(any Error, Bool)] = [
            (URLError(.notConnectedToInternet), true), (Self.offline, true),
            (AFError.requestAdaptationFailed(error: Self.offline), true),
            (
                AFError.requestRetryFailed(
                    retryError: AFError.requestAdaptationFailed(error: Self.offline), originalError: Failed()),
                true
            ),
            (URLError(.timedOut), false),
            (AFError.sessionTaskFailed(error: URLError(.networkConnectionLost)), false),
            (AFError.explicitlyCancelled, false), (Failed(), false),
        ]
        for (error, expected) in rows {
            #expect(OfflineRetrier.defaultIsOfflineError(error) == expected, "\(error)")
        }
        #expect(OfflineRetrier.defaultWait == .seconds(5))
        #expect(OfflineRetrier.defaultURLErrorOfflineCodes == [.notConnectedToInternet])
    }

    @Test("[I-4.2] [I-4.7] another error is not retried, and starts no monitor")
    func otherErrors() async throws {
        let network = Network(Network.offline)
        try await Self.withRequest { session, request in
            let retrier = Self.retrier(network)
            let results = Protected<[String]>([])
            retrier.retry(request, for: session, dueTo: Failed()) { result in
                results.write { $0.append(result.text) }
            }
            #expect(results.read { $0 } == ["do not retry"])
        }
        #expect(network.begunWatches == 0)
    }

    @Test(
        "[I-4.2] [I-4.3] [I-4.4] one monitor serves all requests of a wait, which are retried together"
    )
    func connected() async throws {
        let network = Network(Network.offline)
        try await Self.withRequest { session, request in
            let retrier = Self.retrier(network)
            for wait in 1...2 {
                let (stream, continuation) = AsyncStream<String>.makeStream()
                for _ in 0..<10 {
                    retrier.retry(request, for: session, dueTo: Self.offline) { continuation.yield($0.text) }
                }
                // The retrier starts the monitor asynchronously, after the first call.
                while network.watchCount == 0 { await Task.yield() }
                #expect(network.begunWatches == wait)
                network.change(to: Network.wired)
                var results: [String] = []
                for await result in stream {
                    results.append(result)
                    if results.count == 10 { break }
                }
                #expect(results == Array(repeating: "retry", count: 10))
                #expect(network.watchCount == 0)
                network.change(to: Network.offline)
            }
        }
    }

    @Test("[I-4.3] after the maximum wait the requests are not retried")
    func timeout() async throws {
        let network = Network(Network.offline)
        try await Self.withRequest { session, request in
            let retrier = Self.retrier(network, wait: .milliseconds(1))
            #expect(await retrier.answer(request, for: session, dueTo: Self.offline).text == "do not retry")
            #expect(network.watchCount == 0)
        }
    }

    @Test("[I-4.5] if there is a connection already the request is retried at once")
    func alreadyConnected() async throws {
        let network = Network(Network.mobile)
        try await Self.withRequest { session, request in
            let retrier = Self.retrier(network)
            #expect(await retrier.answer(request, for: session, dueTo: Self.offline).text == "retry")
        }
    }

    @Test("[I-4.6] releasing a retrier ends its wait")
    func release() async throws {
        let network = Network(Network.offline)
        try await Self.withRequest { session, request in
            var retrier: OfflineRetrier? = Self.retrier(network)
            let (stream, continuation) = AsyncStream<String>.makeStream()
            retrier?.retry(request, for: session, dueTo: Self.offline) { continuation.yield($0.text) }
            while network.watchCount == 0 { await Task.yield() }
            retrier = nil
            for await result in stream {
                #expect(result == "do not retry")
                break
            }
            while network.watchCount != 0 { await Task.yield() }
        }
    }

    @Test("[I-4.8] only another retrier limits the number of retries", arguments: TestedHTTP.allCases)
    func noLimit(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            let failing = Adapter { _, _, completion in
                completion(.failure(URLError(.notConnectedToInternet)))
            }
            let counting = Retrier { request, _, _, completion in
                completion(request.retryCount < 20 ? .doNotRetry : .doNotRetryWithError(Failed()))
            }
            let retrier = Self.retrier(Network(Network.wired))
            let both = Interceptor(adapters: [failing], retriers: [counting, retrier])
            try await stage.withSession(interceptor: both) { session in
                let request = session.request(stage.url())
                guard case .requestRetryFailed(is Failed, _)? = await request.awaitResponse().error else {
                    Issue.record("\(String(describing: request.error))")
                    return
                }
                #expect(request.retryCount == 20)
            }
        }
    }

    @Test("the static functions create retriers")
    func statics() {
        let made: [OfflineRetrier] = [
            .offlineRetrier(), .offlineRetrier(maximumWait: .seconds(1)),
            .offlineRetrier(requiredInterfaceType: .wifi),
            .offlineRetrier(prohibitedInterfaceTypes: [.cellular]),
        ]
        #expect(made.count == 4)
    }
}
