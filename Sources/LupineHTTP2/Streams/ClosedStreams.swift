// SPDX-License-Identifier: MIT

/// Remembers a fixed number of closed streams, to distinguish late frames on them from violations.
///
/// A late frame is one that the peer sent before it knew that this endpoint had reset or refused the stream. Streams that were
/// reset are remembered, since late frames on them are allowed. A stream that both endpoints have ended is not stored: its
/// identifier shows that it is not idle, and neither HEADERS nor DATA may follow on it. Above the capacity, the oldest are
/// forgotten. Up to the highest forgotten stream, a stream that is not remembered may have been ended or reset. A late frame on
/// it is therefore allowed, but counted as `doubtful`.
struct ClosedStreams: Sendable {
    /// What is known of a closed stream.
    enum Record: Sendable {
        /// The stream's machine, in its last state.
        case known(HTTP2StreamMachine)
        /// Both endpoints have ended the stream, or its reset has been forgotten.
        case forgotten
        /// The peer has skipped the identifier: the stream was never opened.
        case skipped
    }

    /// A remembered stream.
    private struct Entry: Sendable {
        var machine: HTTP2StreamMachine
        /// The octets of DATA that may still arrive in late frames.
        var room: Int
        /// The number of small late frames that are still expected.
        var smallFrames = ClosedStreams.expectedSmallFrames
    }

    /// The classification of a frame on a closed stream.
    enum LateFrame: Sendable {
        /// The peer probably sent the frame before it knew of the reset.
        case expected
        /// The peer may have sent the frame before it knew of the reset. A peer that sends many such frames does so on purpose.
        case doubtful
        /// The frame exceeds what the peer can have sent before it knew of the reset.
        case tooMuch
    }

    /// The number of small late frames that are expected on a stream: interim heads, a head, the start of content, and trailers.
    private static let expectedSmallFrames = 16

    /// The largest number of ranges of skipped identifiers that are remembered. Further ones count as closed streams.
    private static let maximumSkippedRanges = 32

    private let role: HTTP2Role
    private let capacity: Int
    private var entries: [StreamID: Entry] = [:]
    /// A ring of the remembered streams in the order of their resets, starting at index `oldestIndex`.
    private var ring: [StreamID] = []
    private var oldestIndex = 0
    /// The highest stream whose reset has been forgotten; `connection` if there is none.
    private var highestForgotten = StreamID.connection
    /// The first ranges of identifiers that the peer has skipped.
    private var skippedRanges: [ClosedRange<StreamID>] = []

    init(_ role: HTTP2Role, capacity: Int) {
        self.role = role
        self.capacity = max(capacity, 0)
    }

    /// The number of remembered streams.
    var count: Int { entries.count }

    /// Returns what is known of a stream that is neither idle nor open.
    func record(of stream: StreamID) -> Record {
        if let entry = entries[stream] { return .known(entry.machine) }
        if skippedRanges.contains(where: { $0.contains(stream) }) { return .skipped }
        guard stream > highestForgotten else { return .forgotten }
        // The resets of all streams above are remembered, so both endpoints have ended this one.
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
            // The stream is forgotten at once.
            highestForgotten = max(highestForgotten, stream)
            return
        }
        entries[stream] = Entry(machine: machine, room: room)
        guard ring.count == capacity else { return ring.append(stream) }
        // The ring is full: the stream replaces the oldest one.
        highestForgotten = max(highestForgotten, ring[oldestIndex])
        entries[ring[oldestIndex]] = nil
        ring[oldestIndex] = stream
        oldestIndex = (oldestIndex &+ 1) % capacity
    }

    /// Classifies and counts a late frame: DATA with a payload of `count` octets, or HEADERS, for which `count` is 0.
    mutating func classifyLateFrame(of count: Int, on stream: StreamID) -> LateFrame {
        // The stream is forgotten: what may still arrive on it is not known.
        guard let entry = entries[stream] else { return .doubtful }
        guard count <= entry.room else { return .tooMuch }
        entries[stream]?.room = entry.room &- count
        // Large frames need no further limit: `room` limits their octets.
        if count >= FloodGuard.minimumContent { return .expected }
        guard entry.smallFrames > 0 else { return .doubtful }
        entries[stream]?.smallFrames = entry.smallFrames &- 1
        return .expected
    }

    /// Records identifiers that the peer has skipped by opening a higher stream.
    mutating func skip(_ range: ClosedRange<StreamID>) {
        if skippedRanges.count < Self.maximumSkippedRanges { skippedRanges.append(range) }
    }
}
