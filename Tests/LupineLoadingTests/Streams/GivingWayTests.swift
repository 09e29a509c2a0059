// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// A peer that always has more to send, or reads everything, does not keep the loop from its other connections.
struct GivingWayTests {
    /// The program's use of the stream.
    enum Use: CaseIterable { case pumpReads, pumpWrites, taskReads, taskWrites }

    @Test("a stream that always has bytes yields to other jobs of the loop", arguments: Use.allCases)
    func givesWay(_ use: Use) async throws {
        let group = try EventLoopGroup(count: 1, name: "giving-way")
        let loop = group.loops[0]
        let (moved, wire) = await withCheckedContinuation { continuation in
            _ = loop.execute {
                let wire = EndlessWire(moves: 1_000)
                // Stands for another connection, whose event arrives while this one begins to move octets.
                wire.first = {
                    loop.executeOnLoop {
                        continuation.resume(returning: (wire.moves, LoopBound(wire, on: loop)))
                    }
                }
                Self.use(use, wire, loop)
            }
        }
        #expect(1...17 ~= moved, "\(moved)")
        _ = loop.execute { wire.value.close() }
        await group.shutdown()
    }

    @Test("many operations of a stream yield to other jobs of the loop")
    func ordersGiveWay() async throws {
        let group = try EventLoopGroup(count: 1, name: "giving-way")
        let loop = group.loops[0]
        let core = StreamCore()
        core.setPoster { _ in }
        for _ in 0..<1_000 { core.submit(.write([1], timeout: nil) { _ in }) }
        let (moved, wire) = await withCheckedContinuation { continuation in
            _ = loop.execute {
                let wire = EndlessWire(moves: 1_000)
                // Stands for another connection, whose event arrives while the first operation is performed.
                wire.first = {
                    loop.executeOnLoop {
                        continuation.resume(returning: (wire.moves, LoopBound(wire, on: loop)))
                    }
                }
                let conversation = StreamDriver(on: loop, for: SilentOwner())
                conversation.open(wire)
                core.begin(LoopBound(conversation, on: loop), on: loop)
            }
        }
        #expect(1...TurnAllowance.steps ~= moved, "\(moved)")
        core.end(URLError.cancelled(url: nil))
        _ = loop.execute { wire.value.close() }
        await group.shutdown()
    }

    private static func use(_ use: Use, _ wire: EndlessWire, _ loop: EventLoop) {
        switch use {
        case .pumpReads, .pumpWrites:
            let pump = StreamPump(wire, on: loop, retaining: nil)
            if use == .pumpWrites {
                pump.input.end(.closed)
                pump.output.appendAll([UInt8](repeating: 1, count: 1_000))
            }
            pump.transfer()
        case .taskReads, .taskWrites:
            let conversation = StreamDriver(on: loop, for: SilentOwner())
            if use == .taskReads {
                conversation.enqueue(.read(minimum: 1_000, maximum: 1_000, timeout: nil) { _, _, _ in })
            } else {
                conversation.enqueue(.write([UInt8](repeating: 1, count: 1_000), timeout: nil) { _ in })
            }
            conversation.open(wire)
        }
    }
}

/// A wire that reads and writes one byte at a time, as often as it is asked to.
private final class EndlessWire: StreamWire {
    var handler: (any RawConnectionHandler)?
    var first: (() -> Void)?
    private(set) var moves = 0
    private let limit: Int

    init(moves limit: Int) { self.limit = limit }

    var peerIsClosing: Bool { false }

    private func move() -> Bool {
        first.take()?()
        guard moves < limit else { return false }
        moves += 1
        return true
    }

    func receive(into buffer: inout MutableSpan<UInt8>) throws(StreamFault) -> ReadOutcome {
        move() ? .bytes(1) : .wouldBlock
    }

    func send(_ bytes: Span<UInt8>) throws(StreamFault) -> WriteOutcome { move() ? .bytes(1) : .wouldBlock }
    func flush() throws(StreamFault) -> Bool { true }
    func closeWriting() {}
    func startTLS() {}
    func closeGently() { close() }
    func close() { handler = nil }
}

/// An owner that ignores all calls.
private final class SilentOwner: StreamOwner {
    func post(_ job: @escaping @Sendable () -> Void) {}
    func streamTransferred(received: Int, sent: Int) {}
    func streamClosed(_ half: StreamMachine.Half) {}
    func streamCaptured(_ streams: CapturedStreams) {}
    func streamEnded(_ fault: StreamFault?, isReadToEnd: Bool) {}
    var retainedByCapturedStreams: (any Sendable)? { nil }
    func error(for fault: StreamFault) -> any Error { fault.error }
}
