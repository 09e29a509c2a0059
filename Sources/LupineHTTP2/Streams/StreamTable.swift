// SPDX-License-Identifier: MIT

/// A stream that is open or half-closed.
struct StreamEntry: Sendable {
    /// Decides which frames may be sent and received.
    var machine: HTTP2StreamMachine
    /// The reader of the peer's message.
    var reader: MessageReader
    /// The octets of DATA that this endpoint may send.
    var sendWindow: FlowWindow
    /// The octets of DATA that the peer may send.
    var receiveWindow: ReceiveWindow

    /// Whether the peer may still send DATA: it has not ended its side of the stream.
    var peerMaySend: Bool {
        switch machine.state {
        case .open, .halfClosedLocal: true
        case .idle, .reservedLocal, .reservedRemote, .halfClosedRemote, .closed: false
        }
    }
}

/// The streams of a connection: RFC 9113 §5.1.1.
///
/// It stores the open streams. `ClosedStreams` remembers closed ones, for late frames. Streams above the highest identifier
/// that the client has used are idle. There is no push: only clients open streams.
struct StreamTable: Sendable {
    /// The lifecycle state of a stream, as far as the table knows it.
    enum Status: Sendable {
        /// The stream has not been opened yet.
        case idle
        /// The stream is open or half-closed.
        case open
        /// The stream is closed; its machine decides which frames are still allowed.
        case closed(HTTP2StreamMachine)
        /// The stream is closed, but the table has forgotten how it was closed.
        case forgotten
        /// The client did not open the stream, and cannot open it after a higher one.
        case skipped
    }

    private let role: HTTP2Role
    /// The index in `entries` of each open stream.
    private var slots = StreamSlots()
    /// The entries of open streams. At an index that is not in use, the entry of its last stream remains.
    private var entries: [StreamEntry] = []
    private var closedStreams: ClosedStreams
    /// The highest identifier that the client has used, including refused streams; `connection` if it has used none.
    private(set) var highestUsed = StreamID.connection

    /// Creates an empty table. `rememberedStreams` is the largest number of reset streams to remember.
    init(_ role: HTTP2Role, rememberedStreams: Int) {
        self.role = role
        closedStreams = ClosedStreams(role, capacity: rememberedStreams)
    }

    /// The number of streams that are open or half-closed.
    var count: Int { slots.count }

    /// The streams that are open or half-closed, in the order of their identifiers.
    var openStreams: [StreamID] { slots.sorted }

    /// Returns whether a stream is open or half-closed.
    func isOpen(_ stream: StreamID) -> Bool { slots.index(of: stream) != nil }

    /// Returns whether the peer may still send DATA on a stream.
    func peerMaySend(on stream: StreamID) -> Bool {
        slots.index(of: stream).map { entries[$0].peerMaySend } ?? false
    }

    /// Returns the octets of DATA that the stream's window allows this endpoint to send.
    func sendRoom(of stream: StreamID) -> Int {
        guard let index = slots.index(of: stream) else { return 0 }
        return entries[index].sendWindow.available
    }

    /// The identifier of the next stream that a client opens; nil if no identifiers are left.
    var nextIdentifier: StreamID? {
        if highestUsed.isConnection { return StreamID(1) }
        // `largest` is odd, so the identifier of a client before it is `largest - 2`.
        let hasNext = highestUsed.rawValue < StreamID.largest.rawValue &- 1
        return hasNext ? StreamID(highestUsed.rawValue &+ 2) : nil
    }

    /// Returns the lifecycle state of a stream.
    func status(of stream: StreamID) -> Status {
        if isOpen(stream) { return .open }
        // A server opens no streams, so every even identifier is idle.
        guard stream.isClientInitiated, stream <= highestUsed else { return .idle }
        switch closedStreams.record(of: stream) {
        case .known(let machine): return .closed(machine)
        case .forgotten: return .forgotten
        case .skipped: return .skipped
        }
    }

    /// Records that the client has used an identifier, whether or not the stream is accepted. Lower identifiers that the client
    /// has not used are skipped: it cannot use them after a higher one (§5.1.1).
    mutating func markUsed(_ stream: StreamID) {
        let next = highestUsed.isConnection ? 1 : highestUsed.rawValue &+ 2
        if stream.rawValue > next { closedStreams.skip(StreamID(next)...StreamID(stream.rawValue &- 2)) }
        highestUsed = max(highestUsed, stream)
    }

    /// Adds a stream that was opened.
    mutating func insert(_ stream: StreamID, _ entry: StreamEntry) {
        markUsed(stream)
        let index = slots.insert(stream)
        // A free index is that of a removed stream, whose entry is still there and is replaced.
        if index < entries.count { entries[index] = entry } else { entries.append(entry) }
    }

    /// Records a stream that was refused without having been open. Further frames on it are late frames, which may have up to
    /// `room` octets of DATA.
    mutating func refuse(_ stream: StreamID, room: Int) {
        markUsed(stream)
        closedStreams.remember(stream, HTTP2StreamMachine(role, stream, closed: .resetSent), room: room)
    }

    /// Calls `body` with the entry of an open stream; returns nil if the stream is not open.
    mutating func withEntry<Value, Failure: Error>(
        of stream: StreamID, _ body: (inout StreamEntry) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        guard let index = slots.index(of: stream) else { return nil }
        return try body(&entries[index])
    }

    /// Returns the verdict on a received frame, and updates the machine of an open stream.
    mutating func receive(_ frame: HTTP2StreamMachine.Frame, on stream: StreamID)
        -> HTTP2StreamMachine.Verdict
    {
        switch status(of: stream) {
        case .idle:
            var machine = HTTP2StreamMachine(role, stream)
            return machine.handle(.receive(frame))
        case .open:
            // Never nil: the stream is open.
            return withEntry(of: stream) { $0.machine.handle(.receive(frame)) } ?? .ignore
        // A received frame changes nothing on a closed stream, so the machine need not be stored.
        case .closed(var machine):
            return machine.handle(.receive(frame))
        // The frame may be a late one: it is allowed, and `classifyLateFrame` counts it.
        case .forgotten:
            return .ignore
        case .skipped:
            switch frame {
            case .priority: return .ignore
            case .headers, .data, .pushPromise, .promised, .reset, .windowUpdate:
                return .connectionError(.protocolError)
            }
        }
    }

    /// Classifies and counts a late frame on a closed stream: DATA with a payload of `count` octets, or HEADERS, for which
    /// `count` is 0.
    mutating func classifyLateFrame(of count: Int, on stream: StreamID) -> ClosedStreams.LateFrame {
        closedStreams.classifyLateFrame(of: count, on: stream)
    }

    /// Removes a stream if both endpoints have ended it. Returns whether it was removed.
    mutating func removeIfEnded(_ stream: StreamID) -> Bool {
        guard let index = slots.index(of: stream), entries[index].machine.state == .closed(.ended) else {
            return false
        }
        // Always true: the stream has an index.
        return slots.remove(stream) != nil
    }

    /// Resets a stream for an RST_STREAM that was received or is to be sent; the stream may be closed already. Returns whether
    /// its machine allows the reset. If so, the caller must send the RST_STREAM.
    mutating func reset(_ stream: StreamID, by event: HTTP2StreamMachine.Event) -> Bool {
        switch status(of: stream) {
        case .idle, .forgotten, .skipped:
            return false
        case .open:
            guard let index = slots.index(of: stream), entries[index].machine.handle(event) == .proceed
            else { return false }
            // The entry stays in `entries` until its index is reused.
            _ = slots.remove(stream)
            closedStreams.remember(
                stream, entries[index].machine, room: entries[index].receiveWindow.available)
            return true
        case .closed(var machine):
            guard machine.handle(event) == .proceed else { return false }
            // The stream is remembered already, so that its room does not change.
            closedStreams.remember(stream, machine, room: 0)
            return true
        }
    }
}
