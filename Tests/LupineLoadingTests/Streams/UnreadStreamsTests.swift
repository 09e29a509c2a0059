// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Octets that are unsent when the program has released its streams are sent as long as the peer accepts some now and then.
@Suite("[U-7.16] streams to a peer that reads nothing")
struct UnreadStreamsTests {
    private struct Streams: Sendable {
        let wire: LoopBound<StuckWire>
        let pump: LoopBound<StreamPump>
        let input: BytePipe
        let output: BytePipe
    }

    /// Runs `body` with a pump that has something to send, on a loop with a manual clock.
    private static func withStreams(_ body: (EventLoop, ManualClock, Streams) async throws -> Void)
        async throws
    {
        let clock = ManualClock()
        let group = try EventLoopGroup(count: 1, name: "unread", clock: clock)
        let loop = group.loops[0]
        let streams = await onLoop(loop) {
            let wire = StuckWire()
            let pump = StreamPump(wire, on: loop, retaining: nil)
            pump.output.appendAll([1, 2, 3])
            return Streams(
                wire: LoopBound(wire, on: loop), pump: LoopBound(pump, on: loop), input: pump.input,
                output: pump.output)
        }
        try await body(loop, clock, streams)
        await group.shutdown()
    }

    private static func onLoop<Value: Sendable>(_ loop: EventLoop, _ body: @escaping @Sendable () -> Value)
        async -> Value
    {
        await withCheckedContinuation { continuation in
            _ = loop.execute { continuation.resume(returning: body()) }
        }
    }

    /// Advances the clock, and returns how the wire was closed once the loop has handled that.
    private static func closing(
        _ loop: EventLoop, _ clock: ManualClock, _ streams: Streams, after seconds: Int
    )
        async -> StuckWire.Closing?
    {
        clock.advance(by: .seconds(seconds))
        loop.wake()
        // The first turn may have begun before the clock was advanced.
        for _ in 0..<2 { await onLoop(loop) {} }
        return await onLoop(loop) { streams.wire.value.closing }
    }

    @Test("the time-out starts when both streams are released, and restarts with each accepted octet")
    func patience() async throws {
        try await Self.withStreams { loop, clock, streams in
            await Self.onLoop(loop) { streams.pump.value.transfer() }
            #expect(await Self.closing(loop, clock, streams, after: 60) == nil, "somebody has the streams")
            streams.output.end(.finished)
            await Self.onLoop(loop) { streams.pump.value.transfer() }
            #expect(await Self.closing(loop, clock, streams, after: 60) == nil, "somebody reads")
            streams.input.end(.closed)
            await Self.onLoop(loop) { streams.pump.value.transfer() }
            #expect(await Self.closing(loop, clock, streams, after: 4) == nil)
            await Self.onLoop(loop) {
                streams.wire.value.room = 1
                streams.pump.value.transfer()
            }
            #expect(await Self.closing(loop, clock, streams, after: 4) == nil, "it has taken something")
            #expect(await Self.closing(loop, clock, streams, after: 2) == .atOnce)
        }
    }

    @Test("bytes that the peer accepts in time are sent")
    func inTime() async throws {
        try await Self.withStreams { loop, clock, streams in
            streams.output.end(.finished)
            streams.input.end(.closed)
            await Self.onLoop(loop) { streams.pump.value.transfer() }
            #expect(await Self.closing(loop, clock, streams, after: 4) == nil)
            await Self.onLoop(loop) {
                streams.wire.value.room = 3
                streams.pump.value.transfer()
            }
            #expect(await Self.closing(loop, clock, streams, after: 60) == .gently)
            let sent = await Self.onLoop(loop) { streams.wire.value.sent }
            #expect(sent == [1, 2, 3])
        }
    }
}

/// A wire that accepts as many octets as it has room for.
private final class StuckWire: StreamWire {
    enum Closing { case gently, atOnce }

    weak var handler: (any RawConnectionHandler)?
    var room = 0
    private(set) var sent: [UInt8] = []
    private(set) var closing: Closing?

    var peerIsClosing: Bool { false }

    func receive(into buffer: inout MutableSpan<UInt8>) throws(StreamFault) -> ReadOutcome { .wouldBlock }

    func send(_ bytes: Span<UInt8>) throws(StreamFault) -> WriteOutcome {
        let count = min(room, bytes.count)
        guard count > 0 else { return .wouldBlock }
        for place in 0..<count { sent.append(bytes[place]) }
        room -= count
        return .bytes(count)
    }

    func flush() throws(StreamFault) -> Bool { true }
    func closeWriting() {}
    func startTLS() {}
    func closeGently() { closing = closing ?? .gently }
    func close() { closing = closing ?? .atOnce }
}
