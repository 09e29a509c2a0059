// SPDX-License-Identifier: MIT

/// What is remembered of streams that are over: enough to judge late frames, and never more than a fixed number.
///
/// A stream that both ends have ended needs no memory: its identifier says that it is not idle, and nothing may come on it.
/// Streams that were reset are remembered, since what the peer sent before it knew is to be expected. When there
/// are too many, the oldest are forgotten, and from then on a stream up to the highest forgotten one may be either kind.
struct ClosedStreams: Sendable {
    /// What is known of a stream that is over.
    enum Memory: Sendable {
        /// A machine in its last state.
        case known(HTTP2StreamMachine)
        /// Both ends have ended it, or it was reset so long ago that nobody remembers.
        case forgotten
        /// The peer has passed over its identifier: it was never opened.
        case skipped
    }

    private struct Entry: Sendable {
        var machine: HTTP2StreamMachine
        /// How many octets of DATA the peer may still have sent before it knew.
        var room: Int
        /// How many frames that carry little may have been on their way.
        var frames = ClosedStreams.lateFrames
    }

    /// A frame that came on a stream that is over.
    enum Late: Sendable {
        /// The peer has probably not known.
        case expected
        /// It may be, but a peer that sends many such frames does it on purpose.
        case doubtful
        /// The peer cannot have sent so much before it knew.
        case tooMuch
    }

    /// Interim heads, a head, the beginning of content and trailers: so many frames are expected on a stream.
    private static let lateFrames = 16

    /// Ranges of identifiers that the peer has passed over are remembered up to this number.
    private static let mostSkips = 32

    private let role: HTTP2Role
    private let capacity: Int
    private var entries: [StreamID: Entry] = [:]
    /// The remembered streams, in the order in which they were reset, from `oldest` on and around.
    private var ring: [StreamID] = []
    private var oldest = 0
    private var highestForgotten = StreamID.connection
    private var skips: [ClosedRange<StreamID>] = []

    init(_ role: HTTP2Role, capacity: Int) {
        self.role = role
        self.capacity = max(capacity, 0)
    }

    /// How many streams are remembered.
    var count: Int { entries.count }

    /// What is known of a stream that is neither idle nor open.
    func memory(of stream: StreamID) -> Memory {
        if let entry = entries[stream] { return .known(entry.machine) }
        if skips.contains(where: { $0.contains(stream) }) { return .skipped }
        guard stream > highestForgotten else { return .forgotten }
        return .known(HTTP2StreamMachine(role, stream, closed: .ended))
    }

    /// A stream was reset; the peer may have sent up to `room` octets of DATA before it knew. One that is remembered
    /// already keeps its room.
    mutating func remember(_ stream: StreamID, _ machine: HTTP2StreamMachine, room: Int) {
        if entries[stream] != nil {
            entries[stream]?.machine = machine
            return
        }
        guard capacity > 0 else {
            highestForgotten = max(highestForgotten, stream)
            return
        }
        entries[stream] = Entry(machine: machine, room: room)
        guard ring.count == capacity else { return ring.append(stream) }
        highestForgotten = max(highestForgotten, ring[oldest])
        entries[ring[oldest]] = nil
        ring[oldest] = stream
        oldest = (oldest &+ 1) % capacity
    }

    /// A frame came on a stream; it was DATA of so many octets, or HEADERS.
    mutating func takeLate(_ count: Int, on stream: StreamID) -> Late {
        guard let entry = entries[stream] else { return .doubtful }
        guard count <= entry.room else { return .tooMuch }
        entries[stream]?.room = entry.room &- count
        if count >= FloodGuard.leastContent { return .expected }
        guard entry.frames > 0 else { return .doubtful }
        entries[stream]?.frames = entry.frames &- 1
        return .expected
    }

    /// The peer has opened a stream and thereby passed over others.
    mutating func skip(_ range: ClosedRange<StreamID>) {
        if skips.count < Self.mostSkips { skips.append(range) }
    }
}
