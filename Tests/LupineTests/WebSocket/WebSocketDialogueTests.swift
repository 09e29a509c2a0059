// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The events that handlers of a WebSocket request receive, from the beginning to the end.
struct WebSocketDialogueTests {
    private static let typical = ["connected -", "message 0", "disconnected 1000 -", "completed nil"]

    // MARK: the task

    @Test(
        "[W-1] the URL may have the scheme ws or http, in any case", arguments: ["ws", "http", "WS", "Http"],
        TestedHTTP.allCases)
    func schemes(_ scheme: String, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let url = stage.socketURL("count=1&close=1000", scheme: scheme)
            let request = stage.session.webSocketRequest(to: url)
            #expect(await request.log().all == Self.typical)
            #expect(request.requests.map { $0.url?.absoluteString } == [url])
            #expect(request.tasks.first?.originalRequest?.url?.scheme?.lowercased() == "ws")
        }
    }

    @Test("[W-1] the URL may have the scheme wss or https", arguments: ["wss", "https"], TestedHTTP.allCases)
    func secureSchemes(_ scheme: String, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(PipelineSetUp(leaf: "good"), over: testedHTTP) { stage in
            let url = "\(scheme)://good.test:\(stage.origin.port)/websocket?count=1&close=1000"
            #expect(await stage.session.webSocketRequest(to: url).log().all == Self.typical)
        }
    }

    @Test(
        "[W-1] the configuration applies to the task, not to the request's own headers",
        arguments: TestedHTTP.allCases)
    func configuration(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let offered = stage.socket("protocols=chat&close=1000", configuration: .protocol("chat"))
            #expect(await offered.log().events.wait(for: 1).first == "connected chat")
            #expect(offered.requests.first?.headers["Sec-WebSocket-Protocol"] == nil)
            #expect(offered.performedRequests.first?.headers["Sec-WebSocket-Protocol"] == "chat")
            #expect((offered.task as? URLSessionWebSocketTask)?.maximumMessageSize == 1_048_576)

            let small = stage.socket("close=1000", configuration: .maximumMessageSize(100))
            #expect(await small.log().all.last == "completed nil")
            #expect((small.task as? URLSessionWebSocketTask)?.maximumMessageSize == 100)
        }
    }

    @Test("[W-1] each factory of the configuration changes one setting")
    func settings() {
        typealias Configuration = WebSocketRequest.Configuration
        func text(_ configuration: Configuration) -> String {
            let interval = configuration.pingInterval.map { "\($0)" }
            return "\(configuration.protocol ?? "-") \(configuration.maximumMessageSize) \(interval ?? "-")"
        }
        #expect(text(.default) == "- 1048576 -")
        #expect(text(.protocol("chat")) == "chat 1048576 -")
        #expect(text(.maximumMessageSize(7)) == "- 7 -")
        #expect(text(.pingInterval(1.5)) == "- 1048576 1.5")
    }

    // MARK: the pipeline

    @Test(
        "[W-2, W-17] a WebSocket request has the events of any request, but no parse events",
        arguments: TestedHTTP.allCases)
    func pipeline(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let interceptor = ScriptedInterceptor()
            let request = stage.socket("count=1&close=1000", interceptor: interceptor)
            #expect(request.isInitialized && request.tasks.isEmpty)
            #expect(await request.log().all == Self.typical)
            await stage.settle()
            #expect(stage.events == "r1 r2 r4 r6 r7 r8 s6 r13 s7 r15 r17")
            #expect(interceptor.adaptations.all.count == 1 && request.isFinished)
            #expect(
                request.response?.statusCode == (testedHTTP == .http1 ? 101 : 200) && request.metrics != nil)
            #expect(stage.session.mutableState.read { $0.activeRequests.isEmpty })
        }
    }

    @Test(
        "[W-2] without automatic resumption the request starts when it is resumed",
        arguments: TestedHTTP.allCases
    )
    func waits(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket("close=1000", resumes: false)
            let log = request.log()
            await stage.settle()
            #expect(request.isInitialized && stage.events.isEmpty)
            request.resume()
            #expect(await log.all == ["connected -", "disconnected 1000 -", "completed nil"])
        }
    }

    @Test(
        "[W-2] the factories accept parameters, headers, a modifier or a request",
        arguments: TestedHTTP.allCases)
    func factories(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let made = stage.session.webSocketRequest(
                to: stage.socketURL(), parameters: ["count": "2", "close": "1000"],
                headers: ["X-Test": "yes"], requestModifier: { $0.timeoutInterval = 7 })
            #expect(await made.log().all.count == 5)
            #expect(made.request?.headers["X-Test"] == "yes" && made.request?.timeoutInterval == 7)
            #expect(made.request?.method == .get)
            #expect(made.convertible is Session.RequestEncodableConvertible<[String: String]>)

            let url = try stage.socketURL("count=1&close=1000").asURL()
            let performed = stage.session.webSocketRequest(
                performing: URLRequest(url: url), configuration: .maximumMessageSize(5),
                shouldAutomaticallyResume: false)
            #expect(performed.configuration.maximumMessageSize == 5)
            #expect(performed.shouldAutomaticallyResume == false)
            let log = performed.log()
            performed.resume()
            #expect(await log.all == Self.typical)
        }
    }

    @Test("[W-2] an invalid URL causes only the completion event", arguments: TestedHTTP.allCases)
    func noAddress(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            #expect(await stage.session.webSocketRequest(to: "").log().all == ["completed invalidURL"])
            await stage.settle()
            #expect(stage.events == "r1 r3(invalidURL) r17")
        }
    }

    // MARK: what is heard

    @Test(
        "[W-3, W-4] handlers receive every message in order, between opening and closing",
        arguments: TestedHTTP.allCases)
    func order(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let all = await stage.socket("count=2000&close=1000").log().all
            let messages = (0..<2000).map { "message \($0)" }
            #expect(all == ["connected -"] + messages + ["disconnected 1000 -", "completed nil"])
        }
    }

    @Test(
        "[W-3] a lost connection causes no closing event; the completion has the error",
        arguments: TestedHTTP.allCases)
    func lost(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket("drop=1")
            let log = request.log { if case .connected = $0.kind { request.sendText("x", ValueLog()) } }
            let all = await log.all
            #expect(all.first == "connected -" && all.last == "completed task lost")
            #expect(!all.contains { $0.hasPrefix("disconnected") })
        }
    }

    @Test(
        "[W-4] messages are decoded on the serialization queue, which need not be serial",
        arguments: [true, false], TestedHTTP.allCases)
    func queues(isSerial: Bool, over testedHTTP: TestedHTTP) async throws {
        let (key, other) = (DispatchSpecificKey<Bool>(), DispatchSpecificKey<Bool>())
        let serialization = DispatchQueue(label: "serialization", attributes: isSerial ? [] : .concurrent)
        serialization.setSpecific(key: key, value: true)
        let queue = DispatchQueue(label: "handler")
        queue.setSpecific(key: other, value: true)
        try await withPipeline(PipelineSetUp(serializationQueue: serialization), over: testedHTTP) { stage in
            let (log, misplaced) = (SocketLog(), Protected(0))
            let serializer = ClosureMessageSerializer { message in
                if DispatchQueue.getSpecific(key: key) != true { misplaced.write { $0 += 1 } }
                return message.brief
            }
            stage.socket("count=500&close=1000").streamSerializer(serializer, on: queue) { event in
                if DispatchQueue.getSpecific(key: other) != true { misplaced.write { $0 += 1 } }
                log.record(event)
            }
            let all = await log.all
            #expect(misplaced.read { $0 } == 0)
            #expect(all.dropFirst().dropLast(2) == (0..<500).map { "message \($0)" }[...])
        }
    }

    @Test(
        "[W-5] the server may close with any code without an error", arguments: [1000, 1001, 1008, 1011],
        TestedHTTP.allCases)
    func typical(code: Int, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let all = await stage.socket("count=1&close=\(code)").log().all
            #expect(all == ["connected -", "message 0", "disconnected \(code) -", "completed nil"])
        }
    }

    @Test("[W-6] the closing event has the reason; an empty one is nil", arguments: TestedHTTP.allCases)
    func reason(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let bye = await stage.socket("close=1000&reason=bye").log().all
            #expect(bye == ["connected -", "disconnected 1000 bye", "completed nil"])
            let request = stage.socket("close=1000", resumes: false)
            let log = request.log()
            request.didClose(with: .normalClosure, reason: Data())
            #expect(await log.events.wait(for: 1) == ["disconnected 1000 -"])
            // A request that never completes is retained by its handlers.
            request.cancel()
            _ = await log.all
        }
    }

    @Test("[W-7] a message that cannot be decoded does not affect the others", arguments: TestedHTTP.allCases)
    func undecodable(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket(resumes: false)
            let (log, values, messages) = (SocketLog(), ValueLog<Int>(), ValueLog<String>())
            let queue = DispatchQueue(label: "handler")
            request.streamDecodable(Int.self, on: queue) { values.add($0) }
            request.streamMessages(on: queue) { messages.add($0.brief) }
            request.streamDecodableEvents(Int.self, on: queue) { event in
                log.record(event)
                if event.message == 2 { event.close(sending: .normalClosure) }
            }
            request.resume()
            for text in ["1", "one", "2"] { request.sendText(text, ValueLog()) }
            #expect(
                await log.all == [
                    "connected -", "message 1", "failed", "message 2", "disconnected 1000 -", "completed nil",
                ])
            #expect(values.all == [1, 2] && messages.all == ["1", "one", "2"])
        }
    }

    @Test(
        "[W-8] the completion has the request, the response, the metrics and the error",
        arguments: TestedHTTP.allCases)
    func completion(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let (request, completions) = (stage.socket("close=1000"), ValueLog<WebSocketRequest.Completion>())
            request.streamMessageEvents(on: DispatchQueue(label: "handler")) { event in
                if case .completed(let completion) = event.kind { completions.add(completion) }
            }
            let completion = await completions.wait(for: 1)[0]
            #expect(completion.request == request.request && completion.error == nil)
            #expect(completion.response?.statusCode == (testedHTTP == .http1 ? 101 : 200))
            #expect(completion.metrics === request.metrics && completion.metrics != nil)
        }
    }

    @Test("[W-14] a message that is too large fails the request", arguments: TestedHTTP.allCases)
    func tooLarge(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket("size=1001", configuration: .maximumMessageSize(1000))
            #expect(await request.log().all == ["connected -", "completed task other"])
            #expect((request.error?.underlyingError as? NSError)?.code == Int(EMSGSIZE))
            let fits = stage.socket("size=1000&close=1000", configuration: .maximumMessageSize(1000))
            #expect(await fits.log().all.contains("message 1000 bytes"))
        }
    }

    @Test(
        "[W-15] a refused upgrade fails the attempt; handlers receive only the retry's events",
        arguments: TestedHTTP.allCases)
    func refusedUpgrade(over testedHTTP: TestedHTTP) async throws {
        let attempts = Protected(0)
        try await withPipeline(over: testedHTTP) { stage in
            let (refused, good) = (
                stage.socketURL(path: "/status/500"), stage.socketURL("count=1&close=1000")
            )
            let interceptor = ScriptedInterceptor(
                adapt: { adaptation in
                    let count = attempts.write { count in
                        count += 1
                        return count
                    }
                    var request = adaptation.request
                    request.url = URL(string: count == 1 ? refused : good)
                    adaptation.answer(.success(request))
                }, answers: [.retry])
            let request = stage.socket(interceptor: interceptor)
            #expect(await request.log().all == Self.typical)
            #expect(request.retryCount == 1 && request.tasks.count == 2)
            #expect((request.firstTask?.response as? HTTPURLResponse)?.statusCode == 500)
            await stage.settle()
            #expect(
                stage.events == """
                    r1 r2 r4 r6 r7 r8 s6 r13 s7(url -1011) r15(task url -1011) \
                    r16 r2 r4 r6 r7 r8 s6 r13 s7 r15 r17
                    """)
        }
    }

    @Test(
        "[W-15] without a retry a refused upgrade is an error, and the response has the status",
        arguments: TestedHTTP.allCases)
    func refusedForGood(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket(path: "/status/500")
            #expect(await request.log().all == ["completed task url -1011"])
            #expect(request.response?.statusCode == 500)
        }
    }

    @Test(
        "[W-16] each handler receives all events; one added late receives the completion",
        arguments: TestedHTTP.allCases)
    func handlers(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket("count=1&close=1000", resumes: false)
            let logs = (0..<3).map { _ in request.log() }
            request.resume()
            for log in logs { #expect(await log.all == Self.typical) }
            #expect(await request.log().all == ["completed nil"])
            for log in logs { #expect(log.events.all.count == 4) }
        }
    }
}

/// A serializer that calls a closure.
struct ClosureMessageSerializer: WebSocketMessageSerializer {
    let closure: @Sendable (Message) throws -> String

    func decode(_ message: Message) throws -> String { try closure(message) }
}
