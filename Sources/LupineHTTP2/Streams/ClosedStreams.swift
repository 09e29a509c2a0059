// SPDX-License-Identifier: MIT

/// Remembers a fixed number of closed streams, to distinguish late frames on them from violations.
///
/// A stream that both endpoints have ended is not stored: its identifier shows that it is not idle, and no frame may follow
/// on it. Streams that were reset are remembered, since frames that the peer sent before it knew of the reset are allowed.
/// Above the capacity, the oldest are forgotten. A stream that is not remembered, up to the highest forgotten one, may then have
/// been ended or reset.
struct ClosedStreams: Sendable {
    /// The available information about a closed stream.
    enum Memory: Sendable {
        /// The stream's machine, in its last state.
        case known(HTTP2StreamMachine)
        /// Both endpoints have ended the stream, or its reset has been forgotten.
        case forgotten
        /// The peer has skipped the identifier: the stream was never opened.
        case skipped
    }

    private struct Entry: Sendable {
        var machine: HTTP2StreamMachine
        /// The octets of DATA that the peer may still have sent before it knew of the reset.
        var room: Int
        /// The number of small frames that may still have been in flight.
        var frames = ClosedStreams.lateFrames
    }

    /// The classification of a frame on a closed stream.
    enum Late: Sendable {
        /// The peer probably sent it before it knew of the reset.
        case expected
        /// It may be a legitimate late frame, but a peer that sends many of them does so on purpose.
        case doubtful
        /// It exceeds what the peer can have sent before it knew of the reset.
        case tooMuch
    }

    /// The number of small late frames allowed on a stream: interim heads, a head, the start of content, and trailers.
    private static let lateFrames = 16

    /// The limit of remembered ranges of skipped identifiers.
    private static let skipLimit = 32

    private let role: HTTP2Role
    private let capacity: Int
    private var entries: [StreamID: Entry] = [:]
    /// A ring of the remembered streams in the order of their resets, starting at index `oldest`.
    private var ring: [StreamID] = []
    private var oldest = 0
    /// The highest stream whose reset is no longer remembered; `connection` if there is none.
    private var highestForgotten = StreamID.connection
    /// The first ranges of identifiers that the peer has skipped.
    private var skips: [ClosedRange<StreamID>] = []

    init(_ role: HTTP2Role, capacity: Int) {
        self.role = role
        self.capacity = max(capacity, 0)
    }

    /// The number of remembered streams.
    var count: Int { entries.count }

    /// Returns what is known of a stream that is neither idle nor open.
    func memory(of stream: StreamID) -> Memory {
        if let entry = entries[stream] { return .known(entry.machine) }
        if skips.contains(where: { $0.contains(stream) }) { return .skipped }
        guard stream > highestForgotten else { return .forgotten }
        return .known(HTTP2StreamMachine(role, stream, closed: .ended))
    }

    /// Remembers a reset stream; the peer may have sent up to `room` octets of DATA before it knew of the reset. If the stream
    /// is already remembered, its room does not change.
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

    /// Classifies and counts a late frame: DATA with a payload of `count` octets, or HEADERS, for which `count` is 0.
    mutating func classifyLate(_ count: Int, on stream: StreamID) -> Late {
        guard let entry = entries[stream] else { return .doubtful }
        guard count <= entry.room else { return .tooMuch }
        entries[stream]?.room = entry.room &- count
        if count >= FloodGuard.minimumContent { return .expected }
        guard entry.frames > 0 else { return .doubtful }
        entries[stream]?.frames = entry.frames &- 1
        return .expected
    }

    /// Records identifiers that the peer has skipped by opening a higher stream.
    mutating func skip(_ range: ClosedRange<StreamID>) {
        if skips.count < Self.skipLimit { skips.append(range) }
    }
}
