// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// WebSocket events as asynchronous sequences.
struct WebSocketStreamsTests {
    private static let typical = "count=1&close=1000"

    private func events<Success, Failure>(
        _ stream: WebSocketTask.EventStreamOf<Success, Failure>
    ) async -> [String] {
        await stream.reduce(into: []) { $0.append($1.brief) }
    }

    @Test("[W-30] an event sequence delivers the four events and ends", arguments: TestedHTTP.allCases)
    func messageEvents(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let task = stage.socket(Self.typical).webSocketTask()
            #expect(
                await events(task.streamingMessageEvents()) == [
                    "connected -", "message 0", "disconnected 1000 -", "completed nil",
                ])
        }
    }

    @Test("[W-30] message sequences deliver plain or decoded messages", arguments: TestedHTTP.allCases)
    func messages(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            var texts: [String] = []
            for await message in stage.socket(Self.typical).webSocketTask().streamingMessages() {
                texts.append(message.brief)
            }
            #expect(texts == ["0"])
            var numbers: [Int] = []
            let counting = stage.socket("count=3&close=1000").webSocketTask()
            for await number in counting.streamingDecodable(Int.self) { numbers.append(number) }
            #expect(numbers == [0, 1, 2])
        }
    }

    @Test("[W-30] a decoded event sequence includes failures to decode", arguments: TestedHTTP.allCases)
    func decodedEvents(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let task = stage.socket("count=1&size=3&close=1000").webSocketTask()
            #expect(
                await events(task.streamingDecodableEvents(Int.self)) == [
                    "connected -", "message 0", "failed", "disconnected 1000 -", "completed nil",
                ])
        }
    }

    @Test(
        "[W-30] ending an iteration early cancels the request only if automatic cancellation is on",
        arguments: [true, false], TestedHTTP.allCases)
    func leftEarly(cancels: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket("count=1")
            let task = request.webSocketTask()
            for await _ in task.streamingMessages(automaticallyCancelling: cancels) { break }
            #expect(request.isCancelled == cancels)
            guard !cancels else { return }
            // A later sequence delivers only later events.
            var texts: [String] = []
            let rest = task.streamingMessages()
            try await task.send(.string("next"))
            for await message in rest {
                texts.append(message.brief)
                task.close(sending: .normalClosure)
            }
            #expect(texts == ["next"] && request.isCancelled && request.error == nil)
        }
    }

    @Test(
        "[W-30] the sequence of a cancelled task ends with the completion event",
        arguments: TestedHTTP.allCases)
    func cancelled(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let task = stage.socket("count=1").webSocketTask()
            var heard: [String] = []
            for await event in task.streamingMessageEvents() {
                heard.append(event.brief)
                if event.message != nil { task.cancel() }
            }
            #expect(heard == ["connected -", "message 0", "completed explicit"])
        }
    }

    @Test("[W-30] suspend and resume of the task apply to the request", arguments: TestedHTTP.allCases)
    func held(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(PipelineSetUp(startsImmediately: false), over: testedHTTP) { stage in
            let request = stage.socket(Self.typical)
            let task = request.webSocketTask()
            let stream = task.streamingMessages()
            task.suspend()
            #expect(request.isSuspended)
            task.resume()
            var count = 0
            for await _ in stream { count += 1 }
            #expect(count == 1 && request.isFinished)
        }
    }

    @Test("[W-31] send returns when the message has been written", arguments: TestedHTTP.allCases)
    func sends(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let task = stage.socket().webSocketTask()
            let stream = task.streamingMessages()
            try await task.send(.string("hello"))
            for await message in stream {
                #expect(message.brief == "hello")
                break
            }
        }
    }

    @Test(
        "[W-31] send throws if the message cannot be sent", arguments: ["cancelled", "finished", "failed"],
        TestedHTTP.allCases)
    func throwing(ending: String, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request =
                ending == "failed"
                ? stage.socket(path: "/status/500", resumes: false) : stage.socket("close=1000")
            let task = request.webSocketTask()
            let stream = task.streamingMessageEvents()
            switch ending {
            case "cancelled": task.cancel()
            case "finished": _ = await events(stream)
            default: task.resume()
            }
            let error = await #expect(throws: (any Error).self) { try await task.send(.string("late")) }
            // The message is sent to a task that is failing, or that has failed.
            let expected = ending == "failed" ? ["url -1011", "explicit"] : ["explicit"]
            #expect(expected.contains(brief(error)))
        }
    }
}
