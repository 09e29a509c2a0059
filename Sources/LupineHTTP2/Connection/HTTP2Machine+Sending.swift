// SPDX-License-Identifier: MIT

package import LupineHTTP

/// What this end sends: heads, content, trailers, and what it says of streams and the connection.
extension HTTP2Machine {
    // MARK: streams

    /// Throws when a client cannot open a stream now.
    package func requireRoomForStream() throws(HTTP2SendError) {
        try requireLife()
        guard role == .client, goAway.allowsOpening, streams.nextIdentifier != nil else {
            throw .connectionLeaving
        }
        let allowed = exchange.peerHasSet ? exchange.peer.maxConcurrentStreams : limits.openStreamsAtFirst
        let most = min(allowed ?? .max, limits.openStreams)
        guard streams.count < most else { throw .tooManyStreams(allowed: most) }
    }

    /// A client opens a stream with the header list of a request.
    package mutating func open(
        _ list: HeaderList, method: Method, endsStream: Bool
    ) throws(HTTP2SendError) -> StreamID {
        try requireRoomForStream()
        try requireSize(list)
        guard let stream = streams.nextIdentifier else { throw .connectionLeaving }
        var entry = entry(stream, .response(to: method))
        _ = entry.machine.handle(.send(.headers(endsStream: endsStream)))
        streams.insert(stream, entry)
        let waiting = waitingCount
        write(list, on: stream, endsStream)
        openingOctets = waitingCount &- waiting
        return stream
    }

    /// Sends a header list on an open stream: an interim head, a head, or trailers, which end the stream.
    package mutating func send(
        _ list: HeaderList, on stream: StreamID, endsStream: Bool
    ) throws(HTTP2SendError) {
        try requireLife()
        try requireSize(list)
        try move(.headers(endsStream: endsStream), on: stream)
        write(list, on: stream, endsStream)
        if streams.removeIfEnded(stream) { floods.earn(.streamEnded) }
    }

    /// Puts everything that waits, and the header of a DATA frame, behind the octets in `output`. How many octets of content
    /// the caller is to send behind it: as many of `count` as the windows and the peer's frames have room for. The
    /// stream ends when that is all of them and `endsStream`; nothing is written when there is no room.
    package mutating func sendContent(
        _ count: Int, on stream: StreamID, endsStream: Bool, into output: inout [UInt8]
    ) throws(HTTP2SendError) -> Int {
        try requireLife()
        let room = min(count, sendRoom(of: stream), exchange.peer.maxFrameSize)
        let ends = endsStream && room == count
        guard room > 0 || ends else {
            try requireOpen(stream)
            return 0
        }
        try move(.data(endsStream: ends), on: stream)
        _ = streams.with(stream) { try? $0.sendWindow.debit(room) }
        try? sendWindow.debit(room)
        takeOutput(into: &output)
        FrameWriter.data(stream, length: room, endsStream: ends, into: &output)
        // A peer that opens its window octet by octet gets no credit for what comes of it.
        if room == count || room >= FloodGuard.leastContent { floods.earn(.sent) }
        if streams.removeIfEnded(stream) { floods.earn(.streamEnded) }
        return room
    }

    /// This end wants no more of a stream, or refuses it. Nothing happens when it is over.
    package mutating func reset(_ stream: StreamID, _ code: HTTP2ErrorCode) {
        guard error == nil, streams.isOpen(stream), streams.reset(stream, by: .send(.reset)) else {
            return
        }
        output.write { FrameWriter.reset(stream, code, into: &$0) }
    }

    /// A client says how urgent a stream is whose response is not over (RFC 9218 §7.1); it says nothing to a server whose
    /// settings do not promise that it listens (§2.1.1).
    package mutating func sendPriority(_ value: Span<UInt8>, of stream: StreamID) {
        guard error == nil, role == .client, value.count <= limits.frames.priorityOctets,
            !exchange.peerHasSet || exchange.peer.noRFC7540Priorities,
            streams.peerMaySend(on: stream)
        else { return }
        output.write { FrameWriter.priorityUpdate(stream, value: value, into: &$0) }
    }

    /// The largest room for a header block that is kept.
    private static let keptBlock = 4_096

    private func requireSize(_ list: HeaderList) throws(HTTP2SendError) {
        guard let most = exchange.peer.maxHeaderListSize, list.size > most else { return }
        throw .headerListTooLarge(list.size, allowed: most)
    }

    private mutating func requireOpen(_ stream: StreamID) throws(HTTP2SendError) {
        switch streams.with(stream, { $0.machine.state }) {
        case .open, .halfClosedRemote: return
        case .idle, .reservedLocal, .reservedRemote, .halfClosedLocal, .closed, nil:
            throw .streamOver(stream)
        }
    }

    private mutating func move(_ frame: HTTP2StreamMachine.Frame, on stream: StreamID) throws(HTTP2SendError)
    {
        let verdict = streams.with(stream) { $0.machine.handle(.send(frame)) }
        guard verdict == .proceed else { throw .streamOver(stream) }
    }

    private mutating func write(_ list: HeaderList, on stream: StreamID, _ endsStream: Bool) {
        var block: [UInt8] = []
        swap(&block, &self.block)
        encoder.encode(list, into: &block)
        let most = exchange.peer.maxFrameSize
        output.write {
            FrameWriter.headers(
                stream, block: block.span, endsStream: endsStream, maximumFrameSize: most, into: &$0)
        }
        if block.capacity <= Self.keptBlock {
            block.removeAll(keepingCapacity: true)
            swap(&block, &self.block)
        }
        floods.earn(.sent)
    }

    // MARK: windows

    /// Content that went upward has been consumed or dropped, also of a stream that is over.
    package mutating func consumed(_ count: Int, on stream: StreamID) {
        precondition(count >= 0 && count <= unconsumed, "\(count) octets were not there to be consumed")
        unconsumed &-= count
        guard error == nil else { return }
        giveBack(count, on: stream, isOpen: true)
    }

    /// Makes the connection's receive window larger, up to 1 GiB; it never becomes smaller.
    package mutating func raiseWindow(to size: Int) {
        let increment = receiveWindow.raise(to: size)
        guard increment > 0, error == nil else { return }
        output.write { FrameWriter.windowUpdate(.connection, increment: increment, into: &$0) }
    }

    /// Makes the receive window of a stream larger than the settings say.
    package mutating func raiseWindow(of stream: StreamID, to size: Int) {
        guard error == nil else { return }
        let increment = streams.with(stream) { $0.peerMaySend ? $0.receiveWindow.raise(to: size) : 0 } ?? 0
        guard increment > 0 else { return }
        output.write { FrameWriter.windowUpdate(stream, increment: increment, into: &$0) }
    }

    // MARK: the connection

    /// Puts everything that waits to be sent behind the octets in `output`. The owner does that when what it took before has been
    /// written: only what it has not taken counts as waiting.
    package mutating func takeOutput(into octets: inout [UInt8]) { output.move(to: &octets) }

    /// Sends a PING, whose answer comes as `pong`.
    package mutating func sendPing(_ octets: UInt64) {
        guard error == nil else { return }
        pingsAwaited &+= 1
        output.write { FrameWriter.ping(octets, isAcknowledgement: false, into: &$0) }
    }

    /// Changes what this end has set; the peer's acknowledgement comes as `settingsAcknowledged`.
    package mutating func change(_ settings: HTTP2Settings, at now: Duration) {
        guard error == nil else { return }
        announce(settings, at: now, isFirst: false)
    }

    mutating func announce(_ settings: HTTP2Settings, at now: Duration, isFirst: Bool) {
        var settings = settings
        // Push is refused by clients, and a server has nothing to say of it.
        settings.enablePush = role == .server
        let changes = settings.changes(from: exchange.own)
        for change in changes {
            precondition(
                (try? change.validate(from: role)) != nil, "a setting of this end is invalid: \(change)")
        }
        guard isFirst || !changes.isEmpty else { return }
        let growth = exchange.announce(settings, at: now)
        reader.maximumFrameSize = exchange.maximumFrameSize
        decoder.setTableSizeLimit(exchange.headerTableSize)
        changeReceiveWindows(by: growth)
        output.write { FrameWriter.settings(changes, into: &$0) }
    }

    /// A server begins to go: it still takes streams that are on their way, until `leave()`. A client leaves at once.
    package mutating func announceLeave() {
        guard error == nil else { return }
        guard role == .server else { return leave() }
        sendGoAway(goAway.handle(.announce))
    }

    /// This end takes no further streams; those that are open go on. `isDrained` says when they are over.
    package mutating func leave() {
        guard error == nil else { return }
        sendGoAway(goAway.handle(.leave(last: role == .server ? streams.highest : .connection)))
    }

    private mutating func sendGoAway(_ action: GoAwayState.Action) {
        guard case .send(let last) = action else { return }
        output.write { FrameWriter.goAway(last: last, .noError, into: &$0) }
    }
}
