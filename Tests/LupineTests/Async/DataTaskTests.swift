// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Swift tasks that await the responses of data requests.
struct DataTaskTests {
    private struct Echo: Decodable, Sendable {
        let url: String
    }

    /// A serializer that records each call.
    private struct Counting: DataResponseSerializerProtocol {
        let calls = ValueLog<Int>()

        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> Int {
            if let error { throw error }
            calls.add(data?.count ?? 0)
            return data?.count ?? 0
        }
    }

    @Test("[C-1] the request runs although no task awaits it", arguments: TestedHTTP.allCases)
    func startsByItself(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.held()
            _ = request.serializingData()
            await stage.waitForRequest()
            let finished = ValueLog<Int>()
            request.response(queue: .main) { _ in finished.add(1) }
            stage.sendResponse()
            await finished.wait(for: 1)
        }
    }

    @Test(
        "[C-1] awaiting does not start a request if the session does not start requests automatically",
        arguments: TestedHTTP.allCases)
    func doesNotStart(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(startRequestsImmediately: false, over: testedHTTP) { stage async throws in
            let request = stage.session.request(stage.url("/get"))
            let task = request.serializingData()
            // The handler has been added. If it started the request, the block for that would precede this one on the root queue.
            await withCheckedContinuation { continuation in
                request.underlyingQueue.async { continuation.resume() }
            }
            #expect(request.isInitialized)
            task.resume()
            #expect(await task.response.error == nil)
        }
    }

    @Test(
        "[C-2] the response can be awaited repeatedly and in all forms, and is serialized once",
        arguments: TestedHTTP.allCases)
    func manyTimes(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let serializer = Counting()
            let task = stage.session.request(stage.url("/bytes/100")).serializingResponse(using: serializer)
            #expect(try await task.value == 100)
            #expect(try await task.result.get() == 100)
            #expect(await task.response.value == 100)
            let values = await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<20 { group.addTask { await task.response.value } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(values == Array(repeating: 100, count: 20))
            #expect(serializer.calls.all == [100])
        }
    }

    @Test("[C-2] many tasks can wait for one response", arguments: TestedHTTP.allCases)
    func manyWait(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let task = stage.held().serializingString()
            await withTaskGroup(of: String?.self) { group in
                for _ in 0..<20 { group.addTask { try? await task.value } }
                await stage.waitForRequest()
                stage.sendResponse()
                for await value in group { #expect(value == "ok") }
            }
        }
    }

    @Test(
        "[C-2] one request serves tasks of several kinds, also after it has finished",
        arguments: TestedHTTP.allCases)
    func kinds(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.session.request(stage.url("/get"))
            async let data = request.serializingData().value
            async let text = request.serializingString().value
            async let value = request.serializingDecodable(Echo.self).value
            let all = try await (data, text, value)
            #expect(all.1 == String(decoding: all.0, as: UTF8.self))
            #expect(all.2.url.hasSuffix("/get"))
            #expect(try await request.serializingData().value == all.0)
            #expect(try await request.serializingDecodable(Echo.self).value.url == all.2.url)
        }
    }

    @Test("[C-3] a failure resumes the awaiting task: the value throws it", arguments: TestedHTTP.allCases)
    func failure(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let task = stage.session.request(stage.url("/status/404")).validate().serializingData()
            #expect(await task.response.response?.statusCode == 404)
            await #expect(throws: AFError.self) { try await task.value }
            #expect(await task.result.failure?.responseCode == 404)
        }
    }

    @Test("[C-3] the response is delivered once, after the retries", arguments: TestedHTTP.allCases)
    func retried(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(interceptor: Retrying(times: 2), over: testedHTTP) { stage async throws in
            let request = stage.session.request(stage.url("/status/503")).validate()
            #expect(await request.serializingData().response.error?.responseCode == 503)
            #expect(request.retryCount == 2)
        }
    }

    @Test("[C-3] the deallocation of the session resumes the awaiting task")
    func sessionGone() async throws {
        let origin = try LupineOrigin.Origin.start(configuration: OriginConfiguration())
        origin.script("GET", "/held", ScriptPlan(.signal("asked"), .stall))
        var session: Session? = Session(configuration: .ephemeral)
        let task = session?.request("http://127.0.0.1:\(origin.port)/held").serializingData()
        await origin.gate("asked").wait()
        session = nil
        let error = await task?.response.error
        guard case .sessionDeinitialized = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await origin.shutdown()
    }

    @Test(
        "[C-4] cancelling a data task cancels the request, and so the other data tasks of the request",
        arguments: [true, false],
        TestedHTTP.allCases)
    func cancelling(automatically: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.held()
            let task = request.serializingData(automaticallyCancelling: automatically)
            let other = request.serializingString(automaticallyCancelling: automatically)
            await stage.waitForRequest()
            task.cancel()
            #expect(await task.response.error.map { "\($0)" } == "explicitlyCancelled")
            #expect(await other.response.error.map { "\($0)" } == "explicitlyCancelled")
            #expect(request.isCancelled)
        }
    }

    @Test("[C-4] a data task can be cancelled right after its creation", arguments: TestedHTTP.allCases)
    func cancellingAtOnce(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.held()
            let task = request.serializingData(automaticallyCancelling: false)
            task.cancel()
            #expect(await task.response.error.map { "\($0)" } == "explicitlyCancelled")
            #expect(request.isCancelled)
        }
    }

    @Test(
        "[C-5] with automatic cancellation, cancelling the awaiting task cancels the request",
        arguments: TestedHTTP.allCases)
    func cancelledWaiter(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.held()
            let task = request.serializingData()
            let waiter = Task { await task.response }
            await stage.waitForRequest()
            waiter.cancel()
            #expect(await waiter.value.error?.isExplicitlyCancelledError == true)
            #expect(request.isCancelled)
        }
    }

    @Test(
        "[C-5] a task that was cancelled before it awaits cancels when it awaits",
        arguments: TestedHTTP.allCases)
    func cancelledBeforeWaiting(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.held()
            let task = request.serializingData()
            let gate = ValueLog<Int>()
            let waiter = Task {
                await gate.wait(for: 1)
                return try await task.value
            }
            await stage.waitForRequest()
            waiter.cancel()
            #expect(!request.isCancelled)
            gate.add(1)
            await #expect(throws: AFError.self) { try await waiter.value }
            #expect(request.isCancelled)
        }
    }

    @Test(
        "[C-5] a request that a cancelled task creates is cancelled at once",
        arguments: TestedHTTP.allCases)
    func cancelledBeforeMaking(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let gate = ValueLog<Int>()
            let maker = Task { () async in
                await gate.wait(for: 1)
                let request = stage.session.request(stage.url("/get"))
                let task = request.serializingData()
                #expect(request.isCancelled && request.tasks.isEmpty)
                return await task.response
            }
            maker.cancel()
            gate.add(1)
            #expect(await maker.value.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test(
        "[C-5] cancelling a task group whose tasks await the response cancels the request",
        arguments: TestedHTTP.allCases)
    func cancelledGroup(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.held()
            let task = request.serializingData()
            await withTaskGroup(of: AFError?.self) { group in
                for _ in 0..<4 { group.addTask { await task.response.error } }
                await stage.waitForRequest()
                group.cancelAll()
                for await error in group { #expect(error?.isExplicitlyCancelledError == true) }
            }
        }
    }

    @Test(
        "[C-6] without automatic cancellation a cancelled task still gets the response",
        arguments: TestedHTTP.allCases)
    func notCancelled(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.held()
            let task = request.serializingString(automaticallyCancelling: false)
            let waiter = Task { try await task.value }
            await stage.waitForRequest()
            waiter.cancel()
            stage.sendResponse()
            #expect(try await waiter.value == "ok")
            #expect(!request.isCancelled)
        }
    }

    @Test(
        "[C-7] many data tasks of one request are cancelled by many threads: each awaiting task resumes",
        arguments: TestedHTTP.allCases)
    func cancelledByMany(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.held()
            let tasks = (0..<50).map { _ in request.serializingData() }
            await stage.waitForRequest()
            await withTaskGroup(of: AFError?.self) { group in
                for task in tasks { group.addTask { await task.response.error } }
                DispatchQueue.concurrentPerform(iterations: tasks.count) { tasks[$0].cancel() }
                for await error in group { #expect(error?.isExplicitlyCancelledError == true) }
            }
        }
    }

    @Test("[C-8] a data task suspends and resumes the request", arguments: TestedHTTP.allCases)
    func suspends(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.held()
            let task = request.serializingString()
            await stage.waitForRequest()
            task.suspend()
            #expect(request.isSuspended)
            task.resume()
            #expect(request.isResumed)
            stage.sendResponse()
            #expect(try await task.value == "ok")
        }
    }

    @Test("a response is returned to tasks that wait for it, and to tasks that ask later")
    func awaited() async {
        let awaited = AwaitedResponse<Int>()
        awaited.store(1)
        #expect(await awaited.response(cancelling: nil) == 1)
        let waiting = AwaitedResponse<Int>()
        let waiters = (0..<3).map { _ in Task { await waiting.response(cancelling: nil) } }
        waiting.store(2)
        for waiter in waiters { #expect(await waiter.value == 2) }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
