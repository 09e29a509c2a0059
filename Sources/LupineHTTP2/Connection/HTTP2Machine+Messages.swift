// SPDX-License-Identifier: MIT

import LupineHTTP

/// Handles received heads, content and trailers: RFC 9113 §5.1, §6.1, §6.2 and §8.1.
extension HTTP2Machine {
    /// Handles a header block. The block is decoded even if it is then ignored, since all blocks share one dynamic table (§4.3).
    mutating func receiveHeaders(
        _ stream: StreamID, _ block: [UInt8], _ endsStream: Bool, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        var limitError: HPACKError?
        var list = HeaderList()
        do throws(HPACKError) { list = try decoder.decode(block.span) } catch {
            guard error.leavesTablesEqual else { throw .compression(error) }
            limitError = error
        }
        let status = streams.status(of: stream)
        // For the stream's state, the frame has no END_STREAM yet. `endPeerSide` applies it after the message has been validated,
        // because the stream of a malformed message must still be reset.
        switch streams.receive(.headers(endsStream: false), on: stream) {
        case .proceed:
            if case .idle = status {
                guard try acceptOrRefuse(stream, now) else { return }
            }
            if let limitError { return try failStream(stream, .headerList(limitError), now) }
            try receiveMessagePart(stream, list, endsStream, now)
        // A received frame never gets the verdict `mayNotSend`.
        case .ignore, .mayNotSend:
            try receiveLateFrame(.headers, stream, flowControlled: 0, now)
        case .streamError(let code):
            try failStream(stream, .closed(.headers, code), now)
        case .connectionError(let code):
            throw .unexpectedFrame(.headers, stream, code)
        }
    }

    /// Accepts or refuses a stream that the client opens. Returns whether it is accepted.
    private mutating func acceptOrRefuse(
        _ stream: StreamID, _ now: Duration
    ) throws(HTTP2ConnectionError) -> Bool {
        let priority = removeEarlyPriority(of: stream)
        guard goAway.accepts(stream) else {
            // No RST_STREAM is needed: the client will receive GOAWAY, whose last stream is below this one (§6.8).
            streams.refuse(stream, room: settingsExchange.initialReceiveWindow)
            try floodGuard.record(.lateFrames, at: now)
            return false
        }
        if let limit = settingsExchange.local.maxConcurrentStreams, streams.count >= limit {
            streams.refuse(stream, room: settingsExchange.initialReceiveWindow)
            output.writeProvoked { FrameWriter.reset(stream, .refusedStream, into: &$0) }
            try floodGuard.record(.provokedResets, at: now)
            return false
        }
        var entry = makeEntry(stream, .request)
        // Always proceeds: a client may open an idle stream.
        _ = entry.machine.handle(.receive(.headers(endsStream: false)))
        streams.insert(stream, entry)
        if let priority { emit(.priority(stream, value: priority)) }
        return true
    }

    /// Removes and returns the early priority of a stream that the client opens. The priorities of lower streams are dropped,
    /// since a client cannot open these after a higher one (§5.1.1).
    private mutating func removeEarlyPriority(of stream: StreamID) -> [UInt8]? {
        guard !earlyPriorities.isEmpty else { return nil }
        let priority = earlyPriorities[stream]
        earlyPriorities = earlyPriorities.filter { $0.key > stream }
        return priority
    }

    /// Creates the entry of a stream that either endpoint opens.
    func makeEntry(_ stream: StreamID, _ kind: MessageReader.Kind) -> StreamEntry {
        StreamEntry(
            machine: HTTP2StreamMachine(role, stream),
            reader: MessageReader(
                kind, allowsProtocol: settingsExchange.local.enableConnectProtocol,
                interimLimit: limits.interimHeads),
            sendWindow: FlowWindow(settingsExchange.peer.initialWindowSize),
            receiveWindow: ReceiveWindow(settingsExchange.initialReceiveWindow))
    }

    /// Handles a header list on an open stream: the message's head, an interim head, or trailers.
    private mutating func receiveMessagePart(
        _ stream: StreamID, _ list: HeaderList, _ endsStream: Bool, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        let part: MessageReader.Part?
        do throws(MessageError) {
            part = try streams.withEntry(of: stream) { entry throws(MessageError) in
                try entry.reader.readHeaders(list, endsStream: endsStream)
            }
        } catch {
            return try failStream(stream, .message(error), now)
        }
        floodGuard.recordProgress(.received)
        var trailers = Fields()
        switch part {
        case .request(let request): emit(.request(stream, request))
        case .interim(let head): emit(.interim(stream, head))
        case .response(let head): emit(.response(stream, head))
        case .trailers(let fields): trailers = fields
        // Does not occur: the stream is open.
        case nil: return
        }
        if endsStream { endPeerSide(of: stream, by: .headers(endsStream: true), trailers: trailers) }
    }

    /// Ends the peer's side of a stream.
    private mutating func endPeerSide(
        of stream: StreamID, by frame: HTTP2StreamMachine.Frame, trailers: Fields
    ) {
        // The stream's machine has already allowed this frame without END_STREAM, so the verdict is `proceed`.
        _ = streams.receive(frame, on: stream)
        emit(.end(stream, trailers: trailers))
        if streams.removeIfEnded(stream) { floodGuard.recordProgress(.streamEnded) }
    }

    // MARK: DATA

    /// Begins a DATA frame. Its whole payload counts for the window of the stream and for that of the connection (§6.9.1).
    mutating func beginData(
        _ stream: StreamID, _ count: Int, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        do throws(FlowControlError) { try receiveWindow.debit(count) } catch {
            throw .flowControl(error, .connection)
        }
        // False if the frame's content is dropped.
        var isWanted = false
        switch streams.receive(.data(endsStream: false), on: stream) {
        case .proceed:
            // False if the debit has failed the stream.
            isWanted = try debitWindow(of: stream, by: count, now)
        // A received frame never gets the verdict `mayNotSend`.
        case .ignore, .mayNotSend:
            try receiveLateFrame(.data, stream, flowControlled: count, now)
        case .streamError(let code):
            try failStream(stream, .closed(.data, code), now)
        case .connectionError(let code):
            throw .unexpectedFrame(.data, stream, code)
        }
        // This event requires no action.
        _ = incomingData.handle(.begin(total: count, isWanted: isWanted))
    }

    /// Takes the octets of a DATA frame out of the stream's window. Returns whether the frame's content is wanted: false if the
    /// stream has failed.
    private mutating func debitWindow(
        of stream: StreamID, by count: Int, _ now: Duration
    ) throws(HTTP2ConnectionError) -> Bool {
        // Without content, this checks only whether content may come now.
        do throws(MessageError) {
            try streams.withEntry(of: stream) { entry throws(MessageError) in
                try entry.reader.readContent(0)
            }
        } catch {
            try failStream(stream, .message(error), now)
            return false
        }
        do throws(FlowControlError) {
            try streams.withEntry(of: stream) { entry throws(FlowControlError) in
                try entry.receiveWindow.debit(count)
            }
        } catch {
            try failStream(stream, .flowControl(error), now)
            return false
        }
        return true
    }

    /// Handles a late frame: one on a stream that was reset or refused, which the peer may have sent before it knew of this
    /// (§5.1). `flowControlled` is the length of the payload for DATA, and 0 for HEADERS. The window that the stream had limits
    /// the octets of its late frames. A few small frames are expected on each stream that `ClosedStreams` remembers.
    /// `HTTP2Limits.lateFrames` limits the number of further ones, and of those on forgotten streams.
    private mutating func receiveLateFrame(
        _ type: FrameType, _ stream: StreamID, flowControlled: Int, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        switch streams.classifyLateFrame(of: flowControlled, on: stream) {
        case .expected: return
        case .doubtful: try floodGuard.record(.lateFrames, at: now)
        case .tooMuch: throw .unexpectedFrame(type, stream, .streamClosed)
        }
    }

    /// Handles content of the current DATA frame. Content up to the allowed length is delivered before the excess fails the
    /// stream, so that the events do not depend on how the input is split.
    mutating func receiveContent(
        _ stream: StreamID, _ range: Range<Int>, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        // If the owner has reset the stream since the frame began, there is no room: all content is dropped.
        let room = streams.withEntry(of: stream) { $0.reader.contentRoom } ?? 0
        let allowedCount = min(room, range.count)
        if allowedCount > 0, incomingData.handle(.content(allowedCount)) == .deliver {
            unconsumed &+= allowedCount
            emit(.content(stream, range.lowerBound..<(range.lowerBound &+ allowedCount)))
        }
        do throws(MessageError) {
            try streams.withEntry(of: stream) { entry throws(MessageError) in
                if allowedCount > 0 { try entry.reader.readContent(allowedCount) }
                // One octet more than allowed, so that the reader throws its error.
                if allowedCount < range.count { try entry.reader.readContent(1) }
            }
        } catch {
            try failStream(stream, .message(error), now)
        }
        guard allowedCount < range.count else { return }
        // The excess is counted, but not delivered. These events require no action.
        _ = incomingData.handle(.drop)
        _ = incomingData.handle(.content(range.count &- allowedCount))
    }

    /// Ends the DATA frame: the octets that were not delivered are returned to the windows.
    mutating func endData(
        _ stream: StreamID, _ endsStream: Bool, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        guard case .release(let counts, let isWanted) = incomingData.handle(.end) else { return }
        release(counts.dropped, on: stream, includesStream: isWanted)
        floodGuard.recordContent(counts.content)
        try floodGuard.record(.paddingOctets, counts.padding, at: now)
        if counts.delivered >= FloodGuard.minimumContent { floodGuard.recordProgress(.received) }
        if counts.content == 0, !endsStream { try floodGuard.record(.emptyData, at: now) }
        // The owner may have reset the stream since the frame began.
        guard isWanted, endsStream, streams.isOpen(stream) else { return }
        do throws(MessageError) {
            try streams.withEntry(of: stream) { entry throws(MessageError) in try entry.reader.end() }
        } catch {
            return try failStream(stream, .message(error), now)
        }
        endPeerSide(of: stream, by: .data(endsStream: true), trailers: Fields())
    }

    /// Returns consumed or dropped octets to the connection's window, and sends WINDOW_UPDATE when the increment is large enough.
    /// If `includesStream`, it does the same for the stream's window, unless the stream is closed.
    mutating func release(_ count: Int, on stream: StreamID, includesStream: Bool) {
        // Even if `count` is 0: the peer may have used more of its window since, so that a WINDOW_UPDATE is due now.
        let increment = receiveWindow.release(count)
        if increment > 0 {
            output.writeProvoked { FrameWriter.windowUpdate(.connection, increment: increment, into: &$0) }
        }
        guard includesStream else { return }
        let streamIncrement =
            streams.withEntry(of: stream) { $0.peerMaySend ? $0.receiveWindow.release(count) : 0 } ?? 0
        if streamIncrement > 0 {
            output.writeProvoked { FrameWriter.windowUpdate(stream, increment: streamIncrement, into: &$0) }
        }
    }
}
