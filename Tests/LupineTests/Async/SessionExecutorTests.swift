// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import Lupine

/// Swift tasks of the program that run on the event loops of a session.
@Suite(.timeLimit(.minutes(10))) struct SessionExecutorTests {
    /// Runs `body` with a session that has its own event loops.
    private func withLoops(
        _ count: Int = 3, interceptor: (any RequestInterceptor)? = nil,
        over testedHTTP: TestedHTTP, _ body: (ObservedStage) async throws -> Void
    ) async throws {
        func configure(_ configuration: URLSessionConfiguration) {
            configuration.lupine.ownEventLoops = count
        }
        try await withObserved(interceptor: interceptor, configure: configure, over: testedHTTP, body)
    }

    @Test("[C-60] `executor` returns the loops of the session in rotation", arguments: TestedHTTP.allCases)
    func rotation(over testedHTTP: TestedHTTP) async throws {
        try await withLoops(over: testedHTTP) { stage in
            let loops = (0..<6).compactMap { _ in stage.session.executor as? EventLoop }
            #expect(Set(loops.map(ObjectIdentifier.init)).count == 3)
            #expect(loops.prefix(3).elementsEqual(loops.suffix(3), by: ===))
            // The `URLSession` continues the same rotation.
            #expect(stage.session.session.executor as? EventLoop === loops[0])
        }
    }

    @Test(
        "[C-60] a task that awaits any form of response continues on its loop", arguments: TestedHTTP.allCases
    )
    func forms(over testedHTTP: TestedHTTP) async throws {
        try await withLoops(over: testedHTTP) { stage in
            let loop = try #require(stage.session.executor as? EventLoop)
            let address = stage.url("/bytes/100")
            let session = stage.session
            let wasOnLoop = try await Task(executorPreference: loop) { () -> [Bool] in
                var wasOnLoop = [loop.isOnLoop]
                _ = try await session.request(address).serializingData().value
                wasOnLoop.append(loop.isOnLoop)
                _ = await session.request(address).serializingData().response
                wasOnLoop.append(loop.isOnLoop)
                let file = try await session.download(address).serializingDownloadedFileURL().value
                try FileManager.default.removeItem(at: file)
                wasOnLoop.append(loop.isOnLoop)
                for await _ in session.streamRequest(address).streamTask().streamingData() {
                    wasOnLoop.append(loop.isOnLoop)
                }
                return wasOnLoop
            }.value
            #expect(wasOnLoop.count >= 6 && wasOnLoop.allSatisfy { $0 })
            let staysOnLoop = try await withTaskExecutorPreference(loop) {
                async let first = session.request(address).serializingData().value
                async let second = session.request(address).serializingData().value
                _ = try await (first, second)
                return loop.isOnLoop
            }
            #expect(staysOnLoop)
        }
    }

    @Test(
        "[C-62] a request of a task on a loop connects on that loop, and reuses its connection",
        arguments: TestedHTTP.allCases)
    func connections(over testedHTTP: TestedHTTP) async throws {
        try await withLoops(over: testedHTTP) { stage in
            let loops = (0..<3).compactMap { _ in stage.session.executor as? EventLoop }
            let (session, address) = (stage.session, stage.url("/bytes/10"))
            for _ in 0..<3 {
                try await Task(executorPreference: loops[1]) {
                    _ = try await session.request(address).serializingData().value
                }.value
            }
            #expect(loops.map(\.load) == [0, 1, 0])
        }
    }

    @Test(
        "[C-62] each attempt of a request prefers the loop of the task that created the request",
        arguments: TestedHTTP.allCases)
    func attempts(over testedHTTP: TestedHTTP) async throws {
        try await withLoops(interceptor: Retrying(times: 2), over: testedHTTP) { stage in
            // The connection is closed after each attempt, so that each attempt opens a new one.
            stage.origin.answer(
                "GET", "/closing",
                ScriptPlan(.send("HTTP/1.1 500 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close)
            )
            let loops = (0..<3).compactMap { _ in stage.session.executor as? EventLoop }
            let (session, address) = (stage.session, stage.url("/closing"))
            let preferences = ValueLog<PreferenceNote>()
            let count = await Task(executorPreference: loops[2]) {
                let request = session.request(address).validate()
                request.onURLSessionTaskCreation(on: request.underlyingQueue) { [weak request] _ in
                    preferences.add(PreferenceNote(isNone: request?.loopPreference.isNone ?? true))
                }
                _ = await request.serializingData().response
                return request.retryCount
            }.value
            #expect(count == 2)
            #expect(preferences.all.count == 3 && preferences.all.allSatisfy { !$0.isNone })
        }
    }

    /// Whether a request had no preferred loop.
    private struct PreferenceNote: Sendable {
        let isNone: Bool
    }

    @Test("[C-5, C-60] cancelling a task on a loop cancels its request", arguments: TestedHTTP.allCases)
    func cancelling(over testedHTTP: TestedHTTP) async throws {
        try await withLoops(over: testedHTTP) { stage in
            let request = stage.held()
            let work = Task(executorPreference: stage.session.executor) {
                try await request.serializingData().value
            }
            await stage.waitForRequest()
            work.cancel()
            let result = await work.result
            let error = #expect(throws: AFError.self) { try result.get() }
            #expect(error?.isExplicitlyCancelledError == true)
            stage.sendResponse()
        }
    }

    @Test("[C-60] sixty-four tasks await requests at once", arguments: [1, 3], TestedHTTP.allCases)
    func many(_ loops: Int, over testedHTTP: TestedHTTP) async throws {
        try await withLoops(loops, over: testedHTTP) { stage in
            let (session, address) = (stage.session, stage.url("/bytes/"))
            let sizes = await withTaskGroup(of: Int.self) { group in
                for number in 1...64 {
                    group.addTask(executorPreference: session.executor) {
                        var size = 0
                        for _ in 0..<5 {
                            let request = session.request("\(address)\(number)")
                            size += await request.serializingData().response.value?.count ?? 0
                        }
                        return size
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(sizes == 5 * 64 * 65 / 2)
        }
    }

    @Test("[C-63] an executor works after its session was deallocated, and does not retain it")
    func afterTheSession() async throws {
        let executor: any TaskExecutor
        do {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.lupine.ownEventLoops = 1
            let session = Session(configuration: configuration)
            executor = session.executor
        }
        // The session has been released, and its loop ends.
        while await Task(executorPreference: executor, operation: { EventLoop.current != nil }).value {}
    }

    @Test(
        "[C-60] handlers of a request made on a loop are called on their queues",
        arguments: TestedHTTP.allCases)
    func handlers(over testedHTTP: TestedHTTP) async throws {
        try await withLoops(over: testedHTTP) { stage in
            let heard = ValueLog<Bool>()
            let request = stage.session.request(stage.url("/bytes/10"))
            await Task(executorPreference: stage.session.executor) {
                request.response(queue: .global()) { _ in heard.add(EventLoop.current == nil) }
                _ = await request.serializingData().response
            }.value
            await heard.wait(for: 1)
            #expect(heard.all == [true])
        }
    }
}
