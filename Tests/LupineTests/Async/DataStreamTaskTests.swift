// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Data streams as asynchronous sequences.
struct DataStreamTaskTests {
    private typealias Completion = DataStreamRequest.Completion

    private struct LoopExit: Error {}

    /// Waits until a stream has ended, and returns its values.
    private func values<Success, Failure>(
        _ stream: DataStreamTask.Stream<Success, Failure>
    ) async -> [Success] {
        await stream.reduce(into: []) { values, event in
            if let value = event.value { values.append(value) }
        }
    }

    /// Waits until the request has finished.
    private func waitForEnd(of request: Request) async {
        await withCheckedContinuation { continuation in request.onFinish { continuation.resume() } }
    }

    @Test(
        "[C-40] the request starts before the iteration, and its content is buffered",
        arguments: TestedHTTP.allCases)
    func startsByItself(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.pieces()
            let stream = request.streamTask().streamingData()
            await stage.origin.gate("asked").wait()
            stage.origin.gate("b").open()
            stage.origin.gate("c").open()
            await waitForEnd(of: request)
            #expect(await values(stream).reduce(Data(), +) == Data("abc".utf8))
        }
    }

    @Test(
        "[C-40] each handler has a serial queue, which is named after the request",
        arguments: TestedHTTP.allCases)
    func queue(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.stream("/get")
            let queue = DispatchQueue.streamCompletion(of: request)
            #expect(queue.label == "org.alamofire.concurrencyStreamCompletionQueue-\(request.id)")
            #expect(queue !== DispatchQueue.streamCompletion(of: request))
            let monitor = RecordingMonitor(queue: queue)
            let composite = CompositeEventMonitor(monitors: [monitor])
            let task = stage.session.session.dataTask(with: try stage.url("/").asURL())
            for _ in 0..<100 {
                composite.urlSession(stage.session.session, taskIsWaitingForConnectivity: task)
            }
            await monitor.heard.wait(for: 100)
        }
    }

    @Test(
        "[C-41] all pieces arrive in order, then the completion, then the end", arguments: TestedHTTP.allCases
    )
    func order(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            var text = ""
            var completions: [DataStreamRequest.Completion] = []
            let stream = stage.stream("/stream/50").streamTask().streamingStrings()
            for await event in stream {
                switch event.event {
                case .stream(.success(let piece)):
                    #expect(completions.isEmpty)
                    text += piece
                case .complete(let completion): completions.append(completion)
                }
            }
            #expect(completions.count == 1)
            #expect(completions.first?.response?.statusCode == 200 && completions.first?.error == nil)
            #expect(text.split(separator: "\n").count == 50)
        }
    }

    @Test("[C-41] a stream of decoded values, and of a serializer's values", arguments: TestedHTTP.allCases)
    func serialized(over testedHTTP: TestedHTTP) async throws {
        struct Answer: Decodable, Sendable { let url: String }
        try await withObserved(over: testedHTTP) { stage async throws in
            let decoded = await values(stage.stream("/get").streamTask().streamingDecodables(Answer.self))
            #expect(decoded.first?.url.hasSuffix("/get") == true)
            let task = stage.stream("/get").streamTask()
            let text = await values(task.streamingResponses(serializedUsing: StringStreamSerializer()))
            #expect(text.joined().contains("/get"))
        }
    }

    @Test(
        "[C-42] leaving the loop early cancels the request", arguments: ["break", "throw", "cancel"],
        TestedHTTP.allCases)
    func leftEarly(exit: String, over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.pieces()
            let task = request.streamTask()
            let (stream, seen) = (task.streamingData(), ValueLog<Int>())
            let consumer = Task {
                for await _ in stream {
                    seen.add(1)
                    if exit == "break" { break }
                    if exit == "throw" { throw LoopExit() }
                }
            }
            await seen.wait(for: 1)
            if exit == "cancel" { consumer.cancel() }
            _ = await consumer.result
            #expect(request.isCancelled)
            await waitForEnd(of: request)
        }
    }

    @Test(
        "[C-42] a consumer that was cancelled before its first piece gets no piece",
        arguments: TestedHTTP.allCases)
    func cancelledConsumer(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.pieces()
            let stream = request.streamTask().streamingData()
            let gate = ValueLog<Int>()
            let consumer = Task {
                await gate.wait(for: 1)
                return await values(stream).count
            }
            consumer.cancel()
            gate.add(1)
            #expect(await consumer.value == 0)
            #expect(request.isCancelled)
        }
    }

    @Test(
        "[C-42] leaving the loop after the completion does not cancel the request",
        arguments: TestedHTTP.allCases
    )
    func leftAfterCompletion(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.stream("/get")
            for await event in request.streamTask().streamingData() {
                if case .complete = event.event { break }
            }
            #expect(!request.isCancelled)
        }
    }

    @Test(
        "[C-43] without automatic cancellation the request continues, and a later stream gets the remaining pieces",
        arguments: TestedHTTP.allCases)
    func continues(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.pieces()
            let task = request.streamTask()
            for await _ in task.streamingData(automaticallyCancelling: false) { break }
            #expect(!request.isCancelled)
            let remaining = task.streamingData(automaticallyCancelling: false)
            stage.origin.gate("b").open()
            stage.origin.gate("c").open()
            #expect(await values(remaining).reduce(Data(), +) == Data("bc".utf8))
            #expect(request.error == nil)
        }
    }

    @Test(
        "[C-43] a stream with automatic cancellation also cancels the request of a stream without it",
        arguments: TestedHTTP.allCases)
    func cancelsForAll(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(startRequestsImmediately: false, over: testedHTTP) { stage async throws in
            let request = stage.pieces()
            let task = request.streamTask()
            let withoutCancellation = task.streamingData(automaticallyCancelling: false)
            let withCancellation = task.streamingData()
            task.resume()
            for await _ in withCancellation { break }
            #expect(request.isCancelled)
            var completion: Completion?
            for await event in withoutCancellation { completion = event.completion }
            #expect(completion?.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test(
        "[C-44] cancelling inside the loop ends it with a completion whose error is the cancellation",
        arguments: [true, false],
        TestedHTTP.allCases)
    func cancellingInside(byToken: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.pieces()
            let task = request.streamTask()
            var completion: DataStreamRequest.Completion?
            for await event in task.streamingData() {
                if case .stream = event.event { byToken ? event.cancel() : task.cancel() }
                completion = event.completion ?? completion
            }
            #expect(completion?.error?.isExplicitlyCancelledError == true)
            #expect(request.isCancelled)
        }
    }

    @Test(
        "[C-45] releasing a stream that was never iterated does not cancel the request",
        arguments: TestedHTTP.allCases)
    func dropped(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.pieces()
            _ = request.streamTask().streamingData()
            await stage.origin.gate("asked").wait()
            #expect(!request.isCancelled)
            stage.origin.gate("b").open()
            stage.origin.gate("c").open()
            await waitForEnd(of: request)
            #expect(request.error == nil && !request.isCancelled)
        }
    }

    @Test(
        "a stream task suspends and resumes the request, and the response precedes the pieces",
        arguments: TestedHTTP.allCases)
    func suspends(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.pieces()
            let responses = request.httpResponses()
            let task = request.streamTask()
            let stream = task.streamingData()
            await stage.origin.gate("asked").wait()
            task.suspend()
            #expect(request.isSuspended)
            task.resume()
            stage.origin.gate("b").open()
            stage.origin.gate("c").open()
            #expect(await values(stream).reduce(Data(), +) == Data("abc".utf8))
            #expect(await responses.reduce(into: []) { $0.append($1.statusCode) } == [200])
        }
    }

    @Test(
        "[C-30] an asynchronous handler of the response may cancel a stream", arguments: [true, false],
        TestedHTTP.allCases)
    func headHandler(allows: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage async throws in
            let request = stage.stream("/get")
            request.onHTTPResponse { _ in
                await Task.yield()
                return allows ? .allow : .cancel
            }
            let pieces = await values(request.streamTask().streamingData())
            #expect(pieces.isEmpty == !allows)
            #expect(request.isCancelled == !allows)
        }
    }

    @Test(
        "[C-21] sequences of events do not keep a request alive, nor does a stream that has ended",
        .timeLimit(.minutes(10)), arguments: TestedHTTP.allCases)
    func released(over testedHTTP: TestedHTTP) async throws {
        weak var unstarted: DataStreamRequest?
        weak var finished: DataStreamRequest?
        try await withObserved(over: testedHTTP) { stage async throws in
            var streams: [Any] = []
            do {
                let (first, second) = (stage.stream("/get"), stage.stream("/get"))
                (unstarted, finished) = (first, second)
                streams = [first.urlRequests(), first.httpResponses(), second.streamTask().streamingData()]
                await waitForEnd(of: second)
            }
            // The code that finished the request retains it until the root queue is idle, and its last callbacks a little
            // longer.
            while finished != nil || unstarted != nil {
                await withCheckedContinuation { continuation in
                    stage.session.rootQueue.async { continuation.resume() }
                }
            }
            #expect(unstarted == nil)
            #expect(finished == nil)
            #expect(streams.count == 3)
        }
    }
}
