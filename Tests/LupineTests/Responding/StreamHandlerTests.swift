// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The calls of stream handlers, regardless of the pieces in which the stream arrives.
@Suite struct StreamHandlerTests {
    /// Everything that a handler received: values, errors and the completion.
    struct Received<Value: Sendable>: Sendable {
        var values: [Value] = []
        var errors: [AFError] = []
        var completion: DataStreamRequest.Completion?
    }

    let queue = DispatchQueue(label: "handlers")

    private func receive<Serializer: DataStreamSerializer>(
        _ request: DataStreamRequest, _ serializer: Serializer,
        also:
            @escaping @Sendable (DataStreamRequest.Stream<Serializer.SerializedObject, AFError>) throws ->
            Void = { _ in }
    ) async -> Received<Serializer.SerializedObject> {
        let results = SeenValues<Result<Serializer.SerializedObject, AFError>>()
        let completion = await called { done in
            request.responseStream(using: serializer, on: queue) { stream in
                if let result = stream.result { results.note(result) }
                if let completion = stream.completion { done(completion) }
                try also(stream)
            }
            request.resume()
        }
        var received = Received<Serializer.SerializedObject>(completion: completion)
        for result in results.all {
            switch result {
            case .success(let value): received.values.append(value)
            case .failure(let error): received.errors.append(error)
            }
        }
        return received
    }

    /// Returns a response whose content arrives in these pieces, each in its own chunk.
    private static func pieces(_ pieces: [String], ends: Bool = true) -> Script {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        let chunks = pieces.map { Script.Step.send("\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n") }
        return Script([.expectHead, .send(head)] + chunks + (ends ? [.send("0\r\n\r\n")] : []) + [.close])
    }

    /// Returns a response whose content arrives byte by byte.
    private static func bytes(_ content: String) -> Script {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(content.utf8.count)\r\nConnection: close\r\n\r\n"
        return Script([.send(head), .sendByteByByte(Array(content.utf8)), .close])
    }

    private func serve(_ stage: RespondingStage, _ scripts: Script...) -> String {
        stage.origin.answer("GET", "/pieces", ScriptPlan(scripts.map(Self.answering)))
        return stage.url("/pieces")
    }

    /// Returns the script without its `expectHead` steps: for a route, the origin has already read the head.
    private static func answering(_ script: Script) -> Script {
        Script(
            script.steps.filter { step in
                if case .expectHead = step { return false }
                return true
            })
    }

    @Test(
        "[V-4.6] an error of a stream's serializer is wrapped, and the stream continues",
        arguments: TestedHTTP.allCases)
    func wrapped(over testedHTTP: TestedHTTP) async throws {
        struct FailingSerializer: DataStreamSerializer {
            func serialize(_ data: Data) throws -> Int { throw ResponseTestError.first }
        }
        try await withResponding(over: testedHTTP) { stage in
            let received = await receive(try stage.stream(stage.address(body: "x")), FailingSerializer())
            #expect(received.errors.first?.underlyingError as? ResponseTestError == .first)
            #expect(received.completion?.error == nil)
            // The stream must not end by itself, or its end would look like the cancellation.
            let endless = serve(
                stage,
                Script([.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"), .stall]))
            let cancelled = await receive(
                try stage.stream(endless, cancelsOnError: true), FailingSerializer())
            #expect(cancelled.completion?.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test("[V-4.6] a handler that throws fails the request with its error", arguments: TestedHTTP.allCases)
    func throwing(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let request = try stage.stream(stage.address(body: "x"))
            let received = await receive(request, .passthrough) { stream in
                if stream.value != nil { throw ResponseTestError.second }
            }
            guard
                case .customSerializationFailed(let error)? = received.completion?.error?.serializationReason
            else {
                Issue.record("\(String(describing: received.completion?.error))")
                return
            }
            #expect(error as? ResponseTestError == .second)
        }
    }

    @Test(
        "a text stream delivers whole characters",
        arguments: TestedHTTP.allCases)
    func text(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let address = serve(stage, Self.bytes("né€𝄞"))
            let seen = SeenValues<String>()
            let request = try stage.stream(address)
            _ = await called { (done: @escaping @Sendable (DataStreamRequest.Completion) -> Void) in
                request.responseStreamString(on: queue) { stream in
                    if let value = stream.value { seen.note(value) }
                    if let completion = stream.completion { done(completion) }
                }
            }
            #expect(seen.all.joined() == "né€𝄞")
            #expect(!seen.all.contains { $0.contains("\u{FFFD}") || $0.isEmpty })
        }
    }

    @Test("events are delivered one by one, independent of the chunks", arguments: TestedHTTP.allCases)
    func events(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let address = serve(
                stage, Self.bytes("\u{FEFF}id: 1\r\ndata: é\r\n\r\ndata: b\rdata: c\r\rdata: d"))
            let received = await receive(try stage.stream(address), .serverSentEvents)
            #expect(received.values.map(\.data) == ["é", "b\nc"])
            #expect(received.values.map(\.lastEventID) == ["1", "1"])
            #expect(received.errors.isEmpty)
            #expect(received.completion?.error == nil)
        }
    }

    @Test(
        "a retried stream continues after the last event, and an incomplete event is discarded",
        arguments: TestedHTTP.allCases)
    func resuming(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let address = serve(
                stage,
                Self.pieces(
                    ["id: 1\ndata: a\n\nid: 2\nda", "ta: b\n\nid: 3\ndata: begun\n"], ends: false),
                Self.pieces(["data: c\n\n"]))
            let position = EventStreamPosition()
            let retrier = Retrier { request, _, _, completion in
                completion(request.retryCount == 0 ? .retry : .doNotRetry)
            }
            let request = try stage.stream(
                address, interceptor: Interceptor(adapters: [position], retriers: [retrier]))
            let received = await receive(request, .serverSentEvents(position: position))
            #expect(received.values.map(\.data) == ["a", "b", "c"])
            #expect(received.values.map(\.lastEventID) == ["1", "2", "2"])
            let lastEventIDs = request.performedRequests.map { $0.value(forHTTPHeaderField: "Last-Event-ID") }
            #expect(lastEventIDs == [nil, "2"])
            #expect(position.lastEventID == "2")
        }
    }

    @Test(
        "two handlers and a retry can share a serializer, and are read independently",
        arguments: TestedHTTP.allCases)
    func sharing(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let address = serve(
                stage, Self.pieces(["1\n2\n3"], ends: false), Self.pieces(["4", "5\n6"]))
            let serializer = NDJSONSerializer<Int>()
            let retrier = Retrier { request, _, _, completion in
                completion(request.retryCount == 0 ? .retry : .doNotRetry)
            }
            let request = try stage.stream(
                address, interceptor: Interceptor(retriers: [retrier]), resumes: false)
            let other = SeenValues<Int>()
            request.responseStream(using: serializer, on: queue) { stream in
                if let value = stream.value { other.note(value) }
            }
            let received = await receive(request, serializer)
            #expect(received.values == [1, 2, 45, 6])
            #expect(received.errors.isEmpty)
            #expect(queue.sync { other.all } == [1, 2, 45, 6])
        }
    }

    @Test(
        "lines of JSON are delivered one by one; a bad line cancels if the request is set to do so",
        arguments: TestedHTTP.allCases)
    func lines(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let address = serve(stage, Self.bytes("1\n\nx\n[2]\n3"))
            let received = await receive(try stage.stream(address), .ndjson(of: Int.self))
            #expect(received.values == [1, 3])
            #expect(received.errors.count == 2)
            #expect(received.completion?.error == nil)
            stage.origin.answer(
                "GET", "/held",
                ScriptPlan(
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n1\nx\n"), .waitForSignal("never")))
            let held = try stage.stream(stage.url("/held"), cancelsOnError: true)
            let cancelled = await receive(held, .ndjson(of: Int.self))
            #expect(cancelled.values == [1])
            #expect(cancelled.completion?.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test("a line without an end is buffered up to the limit, and fails once", arguments: TestedHTTP.allCases)
    func endless(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let address = serve(
                stage, Self.pieces(Array(repeating: String(repeating: "7", count: 1000), count: 50)))
            let received = await receive(
                try stage.stream(address), .ndjson(of: Int.self, maximumLineLength: 4096))
            #expect(received.values.isEmpty)
            #expect(received.errors.count == 1)
            #expect(received.errors.first?.underlyingError as? StreamLimitError == .lineTooLong(limit: 4096))
        }
    }
}
