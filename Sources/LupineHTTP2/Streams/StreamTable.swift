// SPDX-License-Identifier: MIT

/// A stream that is open or half-closed.
struct StreamEntry: Sendable {
    var machine: HTTP2StreamMachine
    /// The reader of the peer's message.
    var reader: MessageReader
    /// The octets of DATA that this endpoint may send.
    var sendWindow: FlowWindow
    /// The octets of DATA that the peer may send.
    var receiveWindow: ReceiveWindow

    /// Whether the peer may still send DATA that counts for the window.
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
        case idle
        case open
        /// The stream is closed; its machine decides which frames are still allowed.
        case closed(HTTP2StreamMachine)
        /// The stream is closed, and how it was closed is no longer known.
        case forgotten
        /// The stream was never opened, and can no longer be, because a higher identifier has been used.
        case skipped
    }

    private let role: HTTP2Role
    /// The index in `entries` of each open stream.
    private var slots = StreamSlots()
    /// The entries of open streams. At an index that is not in use, the entry of its last stream remains.
    private var entries: [StreamEntry] = []
    private var closed: ClosedStreams
    /// The highest identifier that the client has used, including refused streams.
    private(set) var highest = StreamID.connection

    init(_ role: HTTP2Role, remembered: Int) {
        self.role = role
        closed = ClosedStreams(role, capacity: remembered)
    }

    /// The number of streams that are open or half-closed.
    var count: Int { slots.count }

    /// The streams that are open or half-closed, in the order of their identifiers.
    var open: [StreamID] { slots.sorted }

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
        if highest.isConnection { return StreamID(1) }
        // `largest` is odd, so the identifier of a client before it is `largest - 2`.
        return highest.rawValue < StreamID.largest.rawValue &- 1 ? StreamID(highest.rawValue &+ 2) : nil
    }

    /// Returns the lifecycle state of a stream.
    func status(of stream: StreamID) -> Status {
        if isOpen(stream) { return .open }
        // A server opens no streams, so every even identifier is idle.
        guard stream.isClientInitiated, stream <= highest else { return .idle }
        switch closed.memory(of: stream) {
        case .known(let machine): return .closed(machine)
        case .forgotten: return .forgotten
        case .skipped: return .skipped
        }
    }

    /// Records that the client has used an identifier, whether or not the stream is accepted. Lower identifiers that were not
    /// used can no longer be: they are skipped.
    mutating func use(_ stream: StreamID) {
        let next = highest.isConnection ? 1 : highest.rawValue &+ 2
        if stream.rawValue > next { closed.skip(StreamID(next)...StreamID(stream.rawValue &- 2)) }
        highest = max(highest, stream)
    }

    /// Adds a stream that was opened.
    mutating func insert(_ stream: StreamID, _ entry: StreamEntry) {
        use(stream)
        let index = slots.insert(stream)
        if index < entries.count { entries[index] = entry } else { entries.append(entry) }
    }

    /// Records a stream that was refused without having been open: further frames on it count as late.
    mutating func refuse(_ stream: StreamID, room: Int) {
        use(stream)
        closed.remember(stream, HTTP2StreamMachine(role, stream, closed: .resetSent), room: room)
    }

    /// Calls `body` with the entry of an open stream; returns nil if the stream is not open.
    mutating func with<Value, Failure: Error>(
        _ stream: StreamID, _ body: (inout StreamEntry) throws(Failure) -> Value
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
            return with(stream) { $0.machine.handle(.receive(frame)) } ?? .ignore
        case .closed(var machine):
            return machine.handle(.receive(frame))
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
    mutating func classifyLate(_ count: Int, on stream: StreamID) -> ClosedStreams.Late {
        closed.classifyLate(count, on: stream)
    }

    /// Removes a stream if both endpoints have ended it. Returns whether it was removed.
    mutating func removeIfEnded(_ stream: StreamID) -> Bool {
        guard let index = slots.index(of: stream), entries[index].machine.state == .closed(.ended) else {
            return false
        }
        return slots.remove(stream) != nil
    }

    /// Resets a stream, which may be closed already, for a sent or received RST_STREAM. Returns whether the state machine allows
    /// it; a sent reset must then be written.
    mutating func reset(_ stream: StreamID, by event: HTTP2StreamMachine.Event) -> Bool {
        switch status(of: stream) {
        case .idle, .forgotten, .skipped:
            return false
        case .open:
            guard let index = slots.index(of: stream), entries[index].machine.handle(event) == .proceed
            else { return false }
            // The entry stays in `entries` until its index is reused.
            _ = slots.remove(stream)
            closed.remember(
                stream, entries[index].machine, room: entries[index].receiveWindow.available)
            return true
        case .closed(var machine):
            guard machine.handle(event) == .proceed else { return false }
            closed.remember(stream, machine, room: 0)
            return true
        }
    }
}
