// SPDX-License-Identifier: MIT

import LupineTLS

/// The bytes on their way from one engine to the other.
final class ByteQueue {
    private(set) var queued: [UInt8] = []
    private var start = 0
    /// All bytes that have been put into the queue, if `keepsLog`.
    private(set) var log: [UInt8] = []
    var isClosed = false
    /// The number of bytes that have been put into the queue.
    private(set) var total = 0
    var count: Int { queued.count - start }
    /// Whether `put` also appends to `log`.
    var keepsLog = true

    func put(_ bytes: Span<UInt8>) {
        total += bytes.count
        for index in bytes.indices { queued.append(bytes[index]) }
        if keepsLog { for index in bytes.indices { log.append(bytes[index]) } }
    }

    func put(_ bytes: [UInt8]) { put(bytes.span) }

    func take(upTo limit: Int, into output: inout OutputSpan<UInt8>) -> Int {
        let taken = min(limit, count, output.freeCapacity)
        for _ in 0..<taken {
            output.append(queued[start])
            start += 1
        }
        if start == queued.count {
            queued.removeAll(keepingCapacity: true)
            start = 0
        }
        return taken
    }

    func takeAll() -> [UInt8] {
        let all = Array(queued[start...])
        queued = []
        start = 0
        return all
    }
}

/// The limits and delays of a wire.
struct WireManner: Sendable, CustomStringConvertible {
    var description: String
    /// The maximum number of bytes that one call moves.
    var piece = Int.max
    /// The maximum number of bytes in the queue.
    var capacity = Int.max
    /// True if every other call moves nothing.
    var isHesitant = false

    static let all = [
        WireManner(description: "takes everything"),
        WireManner(description: "byte by byte", piece: 1),
        WireManner(description: "hesitant, seven bytes at a time", piece: 7, isHesitant: true),
        WireManner(description: "full after 100 bytes", capacity: 100),
    ]
}

/// One end of a connection in memory.
final class MemoryWire: TLSWire {
    let incoming: ByteQueue
    let outgoing: ByteQueue
    var manner: WireManner
    var fails = false
    /// True if receiving fails after the queued bytes have been read.
    var failsWhenDrained = false
    /// Whether `isDrained` reports if the queue is empty, as a socket knows after a read that did not empty it.
    var reportsQueuedBytes = false
    private(set) var receives = 0
    private(set) var sends = 0

    init(incoming: ByteQueue, outgoing: ByteQueue, manner: WireManner) {
        self.incoming = incoming
        self.outgoing = outgoing
        self.manner = manner
    }

    func receive(into output: inout OutputSpan<UInt8>) -> TLSWireOutcome {
        if fails { return .failed }
        receives += 1
        if manner.isHesitant && receives.isMultiple(of: 2) { return .wouldBlock }
        let taken = incoming.take(upTo: manner.piece, into: &output)
        if taken > 0 { return .bytes(taken) }
        if failsWhenDrained { return .failed }
        return incoming.isClosed ? .end : .wouldBlock
    }

    var isDrained: Bool {
        guard reportsQueuedBytes else { return true }
        return incoming.count == 0 && !incoming.isClosed && !failsWhenDrained
    }

    func send(_ bytes: Span<UInt8>) -> TLSWireOutcome {
        if fails { return .failed }
        let room = max(0, manner.capacity - outgoing.count)
        let taken = min(bytes.count, manner.piece, room)
        sends += 1
        if taken == 0 || manner.isHesitant && sends.isMultiple(of: 2) { return .wouldBlock }
        outgoing.put(bytes.extracting(..<taken))
        return .bytes(taken)
    }
}
