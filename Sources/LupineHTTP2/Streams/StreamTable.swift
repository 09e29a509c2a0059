// SPDX-License-Identifier: MIT

/// One stream that is open or half closed.
struct StreamEntry: Sendable {
    var machine: HTTP2StreamMachine
    /// What the peer's message may go on with.
    var reader: MessageReader
    /// How much DATA this end may send.
    var sendWindow: FlowWindow
    /// How much the peer may.
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
/// Open ones are kept; of closed ones `ClosedStreams` keeps what late frames need; idle ones are those above the highest
/// identifier that either end has used. There is no push: only clients open streams.
struct StreamTable: Sendable {
    /// Where a stream stands.
    enum Place: Sendable {
        case idle
        case open
        /// It is over, and its machine says what may still come.
        case closed(HTTP2StreamMachine)
        /// It is over, and nobody knows how it ended.
        case forgotten
        /// It was never opened, and cannot be any more.
        case skipped
    }

    private let role: HTTP2Role
    /// Where in `entries` each open stream stands.
    private var slots = StreamSlots()
    /// What stands at a place that no stream has is left over from the last one.
    private var entries: [StreamEntry] = []
    private var closed: ClosedStreams
    /// The highest stream that the client has opened.
    private(set) var highest = StreamID.connection

    init(_ role: HTTP2Role, remembered: Int) {
        self.role = role
        closed = ClosedStreams(role, capacity: remembered)
    }

    /// How many streams are open or half closed.
    var count: Int { slots.count }

    /// Those streams, in the order of their identifiers.
    var open: [StreamID] { slots.sorted }

    /// Whether a stream is open or half closed.
    func isOpen(_ stream: StreamID) -> Bool { slots.place(of: stream) != nil }

    /// Whether the peer may still send DATA on a stream.
    func peerMaySend(on stream: StreamID) -> Bool {
        slots.place(of: stream).map { entries[$0].peerMaySend } ?? false
    }

    /// How much DATA this end may send on a stream.
    func sendRoom(of stream: StreamID) -> Int {
        guard let place = slots.place(of: stream) else { return 0 }
        return entries[place].sendWindow.available
    }

    /// The identifier of the next stream that a client opens; nil when there are none left.
    var nextIdentifier: StreamID? {
        if highest.isConnection { return StreamID(1) }
        return highest.rawValue < StreamID.last.rawValue &- 1 ? StreamID(highest.rawValue &+ 2) : nil
    }

    /// Where a stream stands.
    func place(of stream: StreamID) -> Place {
        if isOpen(stream) { return .open }
        // A server opens no stream, so that none with an even identifier is anything but idle.
        guard stream.isClientInitiated, stream <= highest else { return .idle }
        switch closed.memory(of: stream) {
        case .known(let machine): return .closed(machine)
        case .forgotten: return .forgotten
        case .skipped: return .skipped
        }
    }

    /// The client uses an identifier, whether or not its stream is taken. Idle ones below it are so no more.
    mutating func use(_ stream: StreamID) {
        let next = highest.isConnection ? 1 : highest.rawValue &+ 2
        if stream.rawValue > next { closed.skip(StreamID(next)...StreamID(stream.rawValue &- 2)) }
        highest = max(highest, stream)
    }

    /// A stream is opened.
    mutating func insert(_ stream: StreamID, _ entry: StreamEntry) {
        use(stream)
        let place = slots.insert(stream)
        if place < entries.count { entries[place] = entry } else { entries.append(entry) }
    }

    /// A stream is refused without having been open: what comes on it is late.
    mutating func refuse(_ stream: StreamID, room: Int) {
        use(stream)
        closed.remember(stream, HTTP2StreamMachine(role, stream, closed: .resetSent), room: room)
    }

    /// Lends an open stream; nil when there is none.
    mutating func with<Value, Failure: Error>(
        _ stream: StreamID, _ body: (inout StreamEntry) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        guard let place = slots.place(of: stream) else { return nil }
        return try body(&entries[place])
    }

    /// What a received frame means to its stream; moves the stream's machine.
    mutating func receive(_ frame: HTTP2StreamMachine.Frame, on stream: StreamID)
        -> HTTP2StreamMachine.Verdict
    {
        switch place(of: stream) {
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
            case .headers, .data, .pushPromise, .promise, .reset, .windowUpdate:
                return .connectionError(.protocolError)
            }
        }
    }

    /// DATA of so many octets, or HEADERS, came on a stream that is over.
    mutating func takeLate(_ count: Int, on stream: StreamID) -> ClosedStreams.Late {
        closed.takeLate(count, on: stream)
    }

    /// Takes a stream out that both ends have ended. Whether they have.
    mutating func removeIfEnded(_ stream: StreamID) -> Bool {
        guard let place = slots.place(of: stream), entries[place].machine.state == .closed(.ended) else {
            return false
        }
        return slots.remove(stream) != nil
    }

    /// An end resets a stream, which may be over already. Whether this end is to send RST_STREAM, when it is its own wish.
    mutating func reset(_ stream: StreamID, by event: HTTP2StreamMachine.Event) -> Bool {
        switch place(of: stream) {
        case .idle, .forgotten, .skipped:
            return false
        case .open:
            guard let place = slots.place(of: stream), entries[place].machine.handle(event) == .proceed
            else { return false }
            _ = slots.remove(stream)
            closed.remember(
                stream, entries[place].machine, room: entries[place].receiveWindow.available)
            return true
        case .closed(var machine):
            guard machine.handle(event) == .proceed else { return false }
            closed.remember(stream, machine, room: 0)
            return true
        }
    }
}
