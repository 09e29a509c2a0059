// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The events of a request as asynchronous sequences.
struct EventStreamsTests {
    /// Waits until the sequence has ended, and returns all elements.
    private func all<Element: Sendable>(_ stream: StreamOf<Element>) async -> [Element] {
        await stream.reduce(into: []) { $0.append($1) }
    }

    @Test(
        "[C-20] events are buffered before the iteration; a closure or sequence that is set later replaces it",
        arguments: TestedHTTP.allCases)
    func bufferedAndReplaced(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.session.request(stage.url("/get"))
            let replaced = request.urlRequests()
            let kept = request.urlRequests()
            let tasks = request.urlSessionTasks()
            let seen = ValueLog<URLSessionTask>()
            request.onURLSessionTaskCreation { seen.add($0) }
            _ = await request.serializingData().response
            #expect(await all(kept).count == 1)
            #expect(await all(replaced).isEmpty)
            #expect(await all(tasks).isEmpty)
            await seen.wait(for: 1)
        }
    }

    @Test(
        "[C-21] a sequence ends when its request is deallocated before it has started",
        arguments: TestedHTTP.allCases)
    func endsWithTheRequest(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            func stream() -> StreamOf<URLRequest> { stage.session.request(stage.url("/get")).urlRequests() }
            #expect(await all(stream()).isEmpty)
        }
    }

    @Test("[C-21] sequences of events do not start the request", arguments: TestedHTTP.allCases)
    func doNotStart(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.session.request(stage.url("/get"))
            let streams = request.urlRequests()
            _ = (request.urlSessionTasks(), request.cURLDescriptions(), request.downloadProgress())
            _ = (request.uploadProgress(), request.httpResponses())
            await withCheckedContinuation { continuation in
                request.underlyingQueue.async { continuation.resume() }
            }
            #expect(request.isInitialized)
            request.resume()
            #expect(await all(streams).count == 1)
        }
    }

    @Test(
        "[C-21] leaving a sequence of events early does not cancel the request",
        arguments: TestedHTTP.allCases)
    func leftEarly(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.held()
            let task = request.serializingString()
            for await _ in request.urlSessionTasks() { break }
            await stage.waitForRequest()
            let progress = request.downloadProgress()
            let consumer = Task { await all(progress) }
            consumer.cancel()
            _ = await consumer.value
            stage.sendResponse()
            #expect(try await task.value == "ok")
        }
    }

    @Test(
        "[C-22] sequences that are created after the request has finished end at once",
        arguments: TestedHTTP.allCases)
    func afterwards(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.session.request(stage.url("/get"))
            _ = await request.serializingData().response
            // The handler runs before the request has released its resources, so the latest `URLRequest` may be delivered.
            #expect(await all(request.urlRequests()).count <= 1)
            #expect(await all(request.httpResponses()).isEmpty)
            #expect(await all(request.downloadProgress()).isEmpty)
            #expect(await all(request.uploadProgress()).isEmpty)
        }
    }

    @Test(
        "[C-22] sequences end with a cancelled request, whether they were created before or after its end",
        arguments: TestedHTTP.allCases)
    func cancelled(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.held()
            let before = request.httpResponses()
            let task = request.serializingData()
            await stage.waitForRequest()
            request.cancel()
            #expect(await task.response.error?.isExplicitlyCancelledError == true)
            #expect(await all(before).isEmpty)
            #expect(await all(request.httpResponses()).isEmpty)
        }
    }

    @Test("[C-23] the events of one successful GET", arguments: TestedHTTP.allCases)
    func plainGet(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.session.request(stage.url("/bytes/1000"))
            let responses = request.httpResponses()
            let uploads = request.uploadProgress()
            let downloads = request.downloadProgress()
            let requests = request.urlRequests()
            let tasks = request.urlSessionTasks()
            let descriptions = request.cURLDescriptions()
            _ = await request.serializingData().response
            #expect(await all(responses).map(\.statusCode) == [200])
            #expect(await all(uploads).isEmpty)
            let progress = await all(downloads)
            #expect(progress.last?.isFinished == true)
            #expect(progress.allSatisfy { $0 === request.downloadProgress })
            #expect(await all(requests).count == 1)
            #expect(await all(tasks) == request.tasks)
            #expect(await all(descriptions).first?.hasPrefix("$ curl -v") == true)
        }
    }

    @Test(
        "[C-24, C-25] with retries there is one element per attempt, but one command line",
        arguments: TestedHTTP.allCases)
    func retried(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(interceptor: Retrying(times: 2), over: testedHTTP) { stage async throws in
            let request = stage.session.request(stage.url("/status/503")).validate()
            let responses = request.httpResponses()
            let requests = request.urlRequests()
            let tasks = request.urlSessionTasks()
            let descriptions = request.cURLDescriptions()
            _ = await request.serializingData().response
            #expect(await all(responses).map(\.statusCode) == [503, 503, 503])
            #expect(await all(requests).count == 3)
            #expect(await all(tasks) == request.tasks)
            #expect(await all(descriptions).count == 1)
        }
    }

    @Test(
        "[C-25] a sequence that is created during an attempt begins with the latest element",
        arguments: TestedHTTP.allCases)
    func inBetween(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.held()
            let task = request.serializingData()
            await stage.waitForRequest()
            let requests = request.urlRequests()
            let tasks = request.urlSessionTasks()
            stage.sendResponse()
            _ = await task.response
            #expect(await all(requests).count == 1)
            #expect(await all(tasks) == request.tasks)
        }
    }

    // MARK: the response's head

    @Test(
        "[C-30] no content is delivered until an asynchronous handler returns", arguments: TestedHTTP.allCases
    )
    func handlerReturns(over testedHTTP: TestedHTTP) async throws {
        let events = ValueLog<String>()
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.session.request(stage.url("/get"))
            let isReleased = ValueLog<Int>()
            request.onHTTPResponse { [weak request] response in
                events.add("head \(response.statusCode) \(request?.data == nil)")
                await isReleased.wait(for: 1)
                events.add("go")
            }
            request.downloadProgress(queue: request.underlyingQueue) { _ in events.add("content") }
            let task = request.serializingData()
            await events.wait(for: 1)
            isReleased.add(1)
            _ = await task.response
            #expect(Array(await events.wait(for: 3).prefix(3)) == ["head 200 true", "go", "content"])
        }
    }

    @Test(
        "[C-30] an asynchronous handler may cancel the request", arguments: [true, false], TestedHTTP.allCases
    )
    func handlerDecides(allows: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.session.request(stage.url("/get"))
            request.onHTTPResponse { _ in
                await Task.yield()
                return allows ? .allow : .cancel
            }
            let response = await request.serializingData().response
            #expect(request.isCancelled == !allows)
            #expect((response.error == nil) == allows)
            #expect(response.response?.statusCode == 200)
            #expect((response.data == nil) == !allows)
        }
    }

    @Test(
        "[C-30] an asynchronous handler replaces the closure that was set before",
        arguments: TestedHTTP.allCases)
    func replacesClosure(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.session.request(stage.url("/get"))
            let heard = ValueLog<String>()
            request.onHTTPResponse { _ in heard.add("closure") }
            request.onHTTPResponse { _ in
                await Task.yield()
                heard.add("asynchronous")
            }
            _ = await request.serializingData().response
            #expect(heard.all == ["asynchronous"])
        }
    }
}
