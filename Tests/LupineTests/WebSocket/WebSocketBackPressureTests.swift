// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// A slow handler of messages slows the server.
struct WebSocketBackPressureTests {
    private static let size = 64 << 10
    private static let count = 384

    /// Sends many large messages, which the origin echoes as fast as they are read.
    private func sendAll(_ request: WebSocketRequest) {
        let message = Message.data(Data(octets(Self.size)))
        for _ in 0..<Self.count {
            request.send(message, queue: DispatchQueue(label: "sent")) { _ in }
        }
    }

    /// Cancels the request, and returns when it has finished.
    private func cancel(_ request: WebSocketRequest) async {
        await withCheckedContinuation { continuation in
            request.onFinish { continuation.resume() }
            request.cancel()
        }
    }

    /// Receives as many messages on another connection. Returns the number of bytes that the origin has sent on all other
    /// connections.
    private func otherBytesSent(_ stage: PipelineStage) async -> Int {
        let other = stage.socket()
        let count = ValueLog<Int>()
        other.streamMessages(on: DispatchQueue(label: "other")) { _ in count.add(1) }
        sendAll(other)
        await count.wait(for: Self.count)
        await cancel(other)
        return stage.origin.counts.bytesSent - Self.count * Self.size
    }

    @Test(
        "a blocked handler slows the server, and receives every message after it continues",
        arguments: TestedHTTP.allCases)
    func handler(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(.narrow, over: testedHTTP) { stage async throws in
            let request = stage.socket()
            let blocked = ValueLog<Bool>()
            let messages = ValueLog<Int>()
            let unblock = DispatchSemaphore(value: 0)
            request.streamMessages(on: DispatchQueue(label: "slow")) { message in
                if blocked.all.isEmpty {
                    blocked.add(true)
                    unblock.wait()
                }
                if case .data(let data) = message { messages.add(data.count) }
            }
            sendAll(request)
            await blocked.wait(for: 1)
            let otherBytes = await otherBytesSent(stage)
            #expect(otherBytes < Self.count * Self.size / 4 * 3)
            #expect(messages.all.isEmpty)
            unblock.signal()
            #expect(await messages.wait(for: Self.count).allSatisfy { $0 == Self.size })
            await cancel(request)
        }
    }

    @Test("a blocked iteration slows the server", arguments: TestedHTTP.allCases)
    func sequence(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(.narrow, over: testedHTTP) { stage async throws in
            let request = stage.socket()
            // Messages that arrive before the iteration are buffered without back-pressure (C-45).
            var messages = request.webSocketTask().streamingMessages().makeAsyncIterator()
            sendAll(request)
            var count = 0
            while await messages.next() != nil {
                count += 1
                if count == 1 {
                    let otherBytes = await otherBytesSent(stage)
                    #expect(otherBytes < Self.count * Self.size / 4 * 3)
                }
                if count == Self.count { break }
            }
            #expect(count == Self.count)
            await cancel(request)
            await stage.settle()
        }
    }

    @Test(
        "messages that waited for a slow handler precede the closing, in order",
        arguments: TestedHTTP.allCases)
    func order(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let blocked = ValueLog<Bool>()
            let unblock = DispatchSemaphore(value: 0)
            let log = stage.socket("count=5000&close=1000").log { event in
                guard event.message != nil, blocked.all.isEmpty else { return }
                blocked.add(true)
                unblock.wait()
            }
            await blocked.wait(for: 1)
            await stage.settle()
            unblock.signal()
            let expected =
                ["connected -"] + (0..<5000).map { "message \($0)" } + [
                    "disconnected 1000 -", "completed nil",
                ]
            let isInOrder = await log.all == expected
            #expect(isInOrder, "\(log.events.all.suffix(3))")
        }
    }

    @Test("a request whose handler is blocked can be cancelled", arguments: TestedHTTP.allCases)
    func cancelled(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let request = stage.socket()
            let blocked = ValueLog<Bool>()
            let unblock = DispatchSemaphore(value: 0)
            let log = request.log { event in
                guard event.message != nil, blocked.all.isEmpty else { return }
                blocked.add(true)
                unblock.wait()
            }
            sendAll(request)
            await blocked.wait(for: 1)
            request.cancel()
            unblock.signal()
            #expect(await log.all.last == "completed explicit")
        }
    }
}
