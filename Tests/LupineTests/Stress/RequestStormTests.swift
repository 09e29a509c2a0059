// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Many requests on which several threads call arbitrary methods: each handler is called once, and no request leaks.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RequestStormTests {
    private static let requests = 20_000
    private static let threads = 8
    /// The maximum number of concurrent requests of a thread.
    private static let room = 32

    /// Counts of the handlers and of the requests.
    private final class Tally: Sendable {
        private let counts = Protected((added: 0, called: 0, twice: 0, living: 0))

        var added: Int { counts.read { $0.added } }
        var called: Int { counts.read { $0.called } }
        var twice: Int { counts.read { $0.twice } }
        var living: Int { counts.read { $0.living } }

        func add() { counts.write { $0.added += 1 } }
        func call(isFirst: Bool) {
            counts.write { counts in
                counts.called += 1
                if !isFirst { counts.twice += 1 }
            }
        }
        func live(_ change: Int) { counts.write { $0.living += change } }
    }

    /// Lives as long as the request that retains it.
    private final class Life: Sendable {
        private let tally: Tally

        init(_ tally: Tally) {
            self.tally = tally
            tally.live(1)
        }

        deinit { tally.live(-1) }
    }

    /// Retries about every third failure, sometimes later and from another thread.
    private struct SometimesRetrying: RequestInterceptor {
        let queue: DispatchQueue

        func retry(
            _ request: Request, for session: Session, dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            let chance = request.retryCount < 3 ? Int.random(in: 0..<6) : 5
            queue.async {
                switch chance {
                case 0: completion(.retry)
                case 1: completion(.retryWithDelay(0.001))
                case 2: completion(.doNotRetryWithError(BriefError("no")))
                default: completion(.doNotRetry)
                }
            }
        }
    }

    /// Adds a handler that counts its calls, with a serializer or without one.
    private static func addHandler(
        _ chance: Int, to request: DataRequest, _ tally: Tally, _ group: DispatchGroup
    ) {
        let calls = Protected(0)
        tally.add()
        group.enter()
        let called: @Sendable () -> Void = {
            let count = calls.write { calls in
                calls += 1
                return calls
            }
            tally.call(isFirst: count == 1)
            if count == 1 { group.leave() }
        }
        let queue = DispatchQueue.global()
        switch chance % 3 {
        case 0: request.response(queue: queue) { _ in called() }
        case 1: request.responseData(queue: queue) { _ in called() }
        default:
            let serializer = ClosureSerializer { error in
                if error != nil || Bool.random() { throw error ?? BriefError("no") }
                return "yes"
            }
            request.response(queue: queue, responseSerializer: serializer) { _ in called() }
        }
    }

    /// The work of one thread: it starts its share of the requests, and calls several methods of each.
    private static func work(
        _ seed: Int, _ stage: PipelineStage, _ tally: Tally, _ group: DispatchGroup
    ) {
        var random = SeededRandom(seed: UInt64(seed))
        let paths = ["/bytes/10", "/status/500", "/redirect/1", "/status/204", "none:"]
        let room = DispatchSemaphore(value: Self.room)
        for _ in 0..<Self.requests / Self.threads {
            room.wait()
            let path = paths.randomElement(using: &random) ?? "/get"
            let address = path == "none:" ? "" : stage.url(path)
            let request = stage.session.request(address)
            let life = Life(tally)
            request.validate { _, _, _ in withExtendedLifetime(life) { .success(()) } }
            if Bool.random(using: &random) { request.validate() }
            addHandler(Int.random(in: 0..<3, using: &random), to: request, tally, group)
            request.onFinish {}
            request.response(queue: .global()) { _ in room.signal() }
            for _ in 0..<Int.random(in: 0..<6, using: &random) {
                let chance = Int.random(in: 0..<12, using: &random)
                let poke: @Sendable () -> Void = {
                    switch chance {
                    case 0: request.cancel()
                    case 1...3: request.suspend().resume()
                    case 4, 5: request.resume()
                    case 6: _ = request.cURLDescription()
                    default: addHandler(chance, to: request, tally, group)
                    }
                }
                if Bool.random(using: &random) { DispatchQueue.global().async(execute: poke) } else { poke() }
            }
            // The last call may have suspended the request.
            request.resume()
        }
        for _ in 0..<Self.room { room.wait() }
        for _ in 0..<Self.room { room.signal() }
    }

    @Test(
        "[R-41, R-42, O-5, S-36] each handler of each request is called once, and no request leaks",
        arguments: TestedHTTP.allCases)
    func storm(over testedHTTP: TestedHTTP) async throws {
        let tally = Tally()
        var setUp = PipelineSetUp(
            interceptor: SometimesRetrying(queue: DispatchQueue(label: "retries", attributes: .concurrent)))
        setUp.serializationQueue = DispatchQueue(label: "serializers", attributes: .concurrent)
        setUp.requestQueue = DispatchQueue(label: "requests", attributes: .concurrent)
        setUp.configure = { $0.httpMaximumConnectionsPerHost = 64 }
        try await withPipeline(setUp, over: testedHTTP) { stage in
            let group = DispatchGroup()
            for index in 0..<Self.threads {
                group.enter()
                Thread.detachNewThread {
                    Self.work(index, stage, tally, group)
                    group.leave()
                }
            }
            await withCheckedContinuation { continuation in
                group.notify(queue: .global()) { continuation.resume() }
            }
            await stage.settle()
            #expect(tally.called == tally.added && tally.twice == 0)
            #expect(tally.added >= Self.requests)
            let state = stage.session.mutableState.read { $0 }
            #expect(state.activeRequests.isEmpty && state.requestTaskMap.isEmpty)
            #expect(state.waitingCompletions.isEmpty)
            while tally.living > 0 { await stage.settle() }
            #expect(tally.living == 0)
        }
    }
}
