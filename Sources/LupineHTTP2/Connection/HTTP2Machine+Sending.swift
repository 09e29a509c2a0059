// SPDX-License-Identifier: MIT

package import LupineHTTP

/// Sends heads, content, trailers, and control frames of streams and of the connection.
extension HTTP2Machine {
    // MARK: Streams

    /// Throws if a client cannot open a stream now.
    package func requireRoomForStream() throws(HTTP2SendError) {
        try requireNotFailed()
        guard role == .client, goAway.allowsOpening, streams.nextIdentifier != nil else {
            throw .connectionShuttingDown
        }
        // Nil if the peer sets no limit. Before its first SETTINGS, the peer's limit is not known.
        let peerLimit =
            settingsExchange.hasPeerSettings
            ? settingsExchange.peer.maxConcurrentStreams : limits.openStreamsAtFirst
        let limit = min(peerLimit ?? .max, limits.openStreams)
        guard streams.count < limit else { throw .tooManyStreams(allowed: limit) }
    }

    /// Opens a stream of a client with the header list of a request, and returns its identifier.
    package mutating func open(
        _ list: HeaderList, method: Method, endsStream: Bool
    ) throws(HTTP2SendError) -> StreamID {
        try requireRoomForStream()
        try requireSize(list)
        guard let stream = streams.nextIdentifier else { throw .connectionShuttingDown }
        var entry = makeEntry(stream, .response(to: method))
        // Always proceeds: a client may open an idle stream.
        _ = entry.machine.handle(.send(.headers(endsStream: endsStream)))
        streams.insert(stream, entry)
        let oldCount = waitingCount
        write(list, on: stream, endsStream)
        openingOctets = waitingCount &- oldCount
        return stream
    }

    /// Sends a header list on an open stream: an interim head, a head, or trailers, which end the stream.
    package mutating func send(
        _ list: HeaderList, on stream: StreamID, endsStream: Bool
    ) throws(HTTP2SendError) {
        try requireNotFailed()
        try requireSize(list)
        try recordSent(.headers(endsStream: endsStream), on: stream)
        write(list, on: stream, endsStream)
        if streams.removeIfEnded(stream) { floodGuard.recordProgress(.streamEnded) }
    }

    /// Appends all waiting frames, and the header of a DATA frame, to `output`. Returns the number of octets of content that the
    /// caller must send after the header: as many of `count` as the windows and the peer's frame size allow. If these are all of
    /// `count` and `endsStream` is true, the frame ends the stream. If nothing can be sent now, nothing is written.
    package mutating func sendContent(
        _ count: Int, on stream: StreamID, endsStream: Bool, into output: inout [UInt8]
    ) throws(HTTP2SendError) -> Int {
        try requireNotFailed()
        let allowedCount = min(count, sendRoom(of: stream), settingsExchange.peer.maxFrameSize)
        let isLastFrame = endsStream && allowedCount == count
        guard allowedCount > 0 || isLastFrame else {
            // A closed stream has no room either: `requireOpen` throws for it.
            try requireOpen(stream)
            return 0
        }
        try recordSent(.data(endsStream: isLastFrame), on: stream)
        // Neither `debit` throws: `allowedCount` is at most what the stream's and the connection's window allow.
        _ = streams.withEntry(of: stream) { try? $0.sendWindow.debit(allowedCount) }
        try? sendWindow.debit(allowedCount)
        takeOutput(into: &output)
        FrameWriter.data(stream, length: allowedCount, endsStream: isLastFrame, into: &output)
        // Tiny frames do not count as progress: a peer that opens its window octet by octet would cause them.
        let isProgress = allowedCount == count || allowedCount >= FloodGuard.minimumContent
        if isProgress { floodGuard.recordProgress(.sent) }
        if streams.removeIfEnded(stream) { floodGuard.recordProgress(.streamEnded) }
        return allowedCount
    }

    /// Resets a stream that this endpoint cancels or refuses. Does nothing if the stream is closed.
    package mutating func reset(_ stream: StreamID, _ code: HTTP2ErrorCode) {
        // `streams.reset` changes the state of the stream. It never returns false for an open one.
        guard error == nil, streams.isOpen(stream), streams.reset(stream, by: .send(.reset)) else {
            return
        }
        output.write { FrameWriter.reset(stream, code, into: &$0) }
    }

    /// Sends PRIORITY_UPDATE from a client, for a stream whose response has not ended (RFC 9218 §7.1). Does nothing if the
    /// server's settings lack SETTINGS_NO_RFC7540_PRIORITIES, since it may then ignore the frame (§2.1.1).
    package mutating func sendPriority(_ value: Span<UInt8>, of stream: StreamID) {
        let mayBeIgnored = settingsExchange.hasPeerSettings && !settingsExchange.peer.noRFC7540Priorities
        // `priorityOctets`, the limit of received values, applies to values that are sent, too.
        guard error == nil, role == .client, !mayBeIgnored, streams.peerMaySend(on: stream),
            value.count <= limits.frames.priorityOctets
        else { return }
        output.write { FrameWriter.priorityUpdate(stream, value: value, into: &$0) }
    }

    /// The largest capacity in octets of a `blockBuffer` that is kept for reuse.
    private static let maximumBlockBufferCapacity = 4_096

    /// Throws if a header list is larger than the peer accepts.
    private func requireSize(_ list: HeaderList) throws(HTTP2SendError) {
        guard let limit = settingsExchange.peer.maxHeaderListSize, list.size > limit else { return }
        throw .headerListTooLarge(list.size, allowed: limit)
    }

    /// Throws if this endpoint may not send on the stream.
    private mutating func requireOpen(_ stream: StreamID) throws(HTTP2SendError) {
        switch streams.withEntry(of: stream, { $0.machine.state }) {
        case .open, .halfClosedRemote: return
        case .idle, .reservedLocal, .reservedRemote, .halfClosedLocal, .closed, nil:
            throw .streamOver(stream)
        }
    }

    /// Updates the stream's machine for a frame that is sent. Throws if the frame must not be sent.
    private mutating func recordSent(
        _ frame: HTTP2StreamMachine.Frame, on stream: StreamID
    ) throws(HTTP2SendError) {
        let verdict = streams.withEntry(of: stream) { $0.machine.handle(.send(frame)) }
        guard verdict == .proceed else { throw .streamOver(stream) }
    }

    /// Encodes a header list and writes it as HEADERS and CONTINUATION frames.
    private mutating func write(_ list: HeaderList, on stream: StreamID, _ endsStream: Bool) {
        // Moves the buffer out of `self` by a swap: a second reference to it would make the encoder copy it.
        var block: [UInt8] = []
        swap(&block, &blockBuffer)
        encoder.encode(list, into: &block)
        let maximumFrameSize = settingsExchange.peer.maxFrameSize
        output.write {
            FrameWriter.headers(
                stream, block: block.span, endsStream: endsStream, maximumFrameSize: maximumFrameSize,
                into: &$0)
        }
        if block.capacity <= Self.maximumBlockBufferCapacity {
            block.removeAll(keepingCapacity: true)
            swap(&block, &blockBuffer)
        }
        floodGuard.recordProgress(.sent)
    }

    // MARK: Windows

    /// Returns `count` octets of delivered content to the windows. The owner calls it when it has consumed or dropped the
    /// content, even if the stream has ended.
    package mutating func consumed(_ count: Int, on stream: StreamID) {
        precondition(count >= 0 && count <= unconsumed, "\(count) octets were not there to be consumed")
        unconsumed &-= count
        guard error == nil else { return }
        release(count, on: stream, includesStream: true)
    }

    /// Enlarges the connection's receive window, up to 1 GiB; it never shrinks.
    package mutating func raiseWindow(to size: Int) {
        let increment = receiveWindow.raise(to: size)
        guard increment > 0, error == nil else { return }
        output.write { FrameWriter.windowUpdate(.connection, increment: increment, into: &$0) }
    }

    /// Enlarges the receive window of a stream beyond the value in the settings.
    package mutating func raiseWindow(of stream: StreamID, to size: Int) {
        guard error == nil else { return }
        let increment = streams.withEntry(of: stream) {
            $0.peerMaySend ? $0.receiveWindow.raise(to: size) : 0
        }
        guard let increment, increment > 0 else { return }
        output.write { FrameWriter.windowUpdate(stream, increment: increment, into: &$0) }
    }

    // MARK: Connection

    /// Moves all frames that wait to be sent to the end of `octets`. The owner calls it only when it has written the previous
    /// output: octets in the buffer of the owner do not count towards `HTTP2Limits.waitingOctets`, which limits the output that
    /// the peer does not read.
    package mutating func takeOutput(into octets: inout [UInt8]) { output.move(to: &octets) }

    /// Sends a PING; its acknowledgement is reported as `pong`.
    package mutating func sendPing(_ octets: UInt64) {
        guard error == nil else { return }
        pendingPings &+= 1
        output.write { FrameWriter.ping(octets, isAcknowledgement: false, into: &$0) }
    }

    /// Changes this endpoint's settings; the peer's acknowledgement is reported as `settingsAcknowledged`.
    package mutating func change(_ settings: HTTP2Settings, at now: Duration) {
        guard error == nil else { return }
        sendSettings(settings, at: now, isFirst: false)
    }

    /// Sends SETTINGS with the parameters that have changed. If there are none, it sends the frame only if `isFirst`: the first
    /// frame of an endpoint must be SETTINGS, even without parameters.
    mutating func sendSettings(_ settings: HTTP2Settings, at now: Duration, isFirst: Bool) {
        var settings = settings
        // A client refuses push. A server keeps the initial value, so that it does not send the setting.
        settings.enablePush = role == .server
        let changes = settings.changes(from: settingsExchange.local)
        for change in changes {
            precondition(
                (try? change.validate(from: role)) != nil, "a setting of this end is invalid: \(change)")
        }
        guard isFirst || !changes.isEmpty else { return }
        let growth = settingsExchange.announce(settings, at: now)
        reader.maximumFrameSize = settingsExchange.maximumFrameSize
        decoder.setTableSizeLimit(settingsExchange.headerTableSize)
        changeReceiveWindows(by: growth)
        output.write { FrameWriter.settings(changes, into: &$0) }
    }

    /// Announces the shutdown of a server, which still accepts streams until `shutDown()`. On a client, it is the same as
    /// `shutDown()`.
    package mutating func announceShutdown() {
        guard error == nil else { return }
        guard role == .server else { return shutDown() }
        sendGoAway(goAway.handle(.announce))
    }

    /// Sends GOAWAY: this endpoint accepts no further streams. Open streams continue; `isDrained` becomes true when all have
    /// ended.
    package mutating func shutDown() {
        guard error == nil else { return }
        // As in `fail`: a client names stream 0, because a server opens no streams.
        sendGoAway(goAway.handle(.shutDown(last: role == .server ? streams.highestUsed : .connection)))
    }

    /// Sends GOAWAY if the action requires it.
    private mutating func sendGoAway(_ action: GoAwayState.Action) {
        guard case .send(let last) = action else { return }
        output.write { FrameWriter.goAway(last: last, .noError, into: &$0) }
    }
}
