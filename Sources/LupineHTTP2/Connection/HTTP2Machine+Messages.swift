// SPDX-License-Identifier: MIT

import LupineHTTP

/// Handles received heads, content and trailers: RFC 9113 §5.1, §6.1, §6.2 and §8.1.
extension HTTP2Machine {
    /// Handles a header block. It is decoded even if it is then ignored, since all blocks share one dynamic table (§4.3).
    mutating func receiveHeaders(
        _ stream: StreamID, _ block: [UInt8], _ endsStream: Bool, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        var refusal: HPACKError?
        var list = HeaderList()
        do throws(HPACKError) { list = try decoder.decode(block.span) } catch {
            guard error.leavesTablesEqual else { throw .compression(error) }
            refusal = error
        }
        let status = streams.status(of: stream)
        // END_STREAM is applied after the message has been validated: the stream of a malformed one must still be reset.
        switch streams.receive(.headers(endsStream: false), on: stream) {
        case .proceed:
            if case .idle = status {
                guard try accept(stream, now) else { return }
            }
            if let refusal { return try failStream(stream, .headerList(refusal), now) }
            try receiveMessagePart(stream, list, endsStream, now)
        case .ignore, .mayNotSend:
            try receiveLate(.headers, stream, 0, now)
        case .streamError(let code):
            try failStream(stream, .closed(.headers, code), now)
        case .connectionError(let code):
            throw .unexpectedFrame(.headers, stream, code)
        }
    }

    /// Accepts or refuses a stream that the client opens. Returns whether it is accepted.
    private mutating func accept(
        _ stream: StreamID, _ now: Duration
    ) throws(HTTP2ConnectionError) -> Bool {
        let priority = removeEarlyPriority(of: stream)
        guard goAway.accepts(stream) else {
            // The client has not received GOAWAY yet, and will see that its stream is above the last one (§6.8).
            streams.refuse(stream, room: settingsExchange.receiveInitial)
            try floodGuard.record(.lateFrames, at: now)
            return false
        }
        if let limit = settingsExchange.local.maxConcurrentStreams, streams.count >= limit {
            streams.refuse(stream, room: settingsExchange.receiveInitial)
            output.answer { FrameWriter.reset(stream, .refusedStream, into: &$0) }
            try floodGuard.record(.provokedResets, at: now)
            return false
        }
        var entry = makeEntry(stream, .request)
        // Always allowed on a new stream of the client.
        _ = entry.machine.handle(.receive(.headers(endsStream: false)))
        streams.insert(stream, entry)
        if let priority { emit(.priority(stream, value: priority)) }
        return true
    }

    /// Removes and returns the early priority of a stream that the client opens. Priorities of lower streams, which can no
    /// longer be opened, are dropped.
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
            receiveWindow: ReceiveWindow(settingsExchange.receiveInitial))
    }

    /// Handles a header list on an open stream.
    private mutating func receiveMessagePart(
        _ stream: StreamID, _ list: HeaderList, _ endsStream: Bool, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        let part: MessageReader.Part?
        do throws(MessageError) {
            part = try streams.with(stream) { entry throws(MessageError) in
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
        case nil: return
        }
        if endsStream { endPeerSide(of: stream, by: .headers(endsStream: true), trailers: trailers) }
    }

    /// Ends the peer's side of a stream.
    private mutating func endPeerSide(
        of stream: StreamID, by frame: HTTP2StreamMachine.Frame, trailers: Fields
    ) {
        // The caller has already received the frame without END_STREAM, so it is allowed.
        _ = streams.receive(frame, on: stream)
        emit(.end(stream, trailers: trailers))
        if streams.removeIfEnded(stream) { floodGuard.recordProgress(.streamEnded) }
    }

    // MARK: DATA

    /// Begins a DATA frame. Its whole payload counts for both windows (§6.9.1).
    mutating func beginData(
        _ stream: StreamID, _ count: Int, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        do throws(FlowControlError) { try receiveWindow.debit(count) } catch {
            throw .flowControl(error, .connection)
        }
        var isWanted = false
        switch streams.receive(.data(endsStream: false), on: stream) {
        case .proceed:
            isWanted = try debitWindow(of: stream, by: count, now)
        case .ignore, .mayNotSend:
            try receiveLate(.data, stream, count, now)
        case .streamError(let code):
            try failStream(stream, .closed(.data, code), now)
        case .connectionError(let code):
            throw .unexpectedFrame(.data, stream, code)
        }
        _ = incoming.handle(.begin(total: count, isWanted: isWanted))
    }

    /// Takes the octets of a DATA frame out of the stream's window. Returns whether the frame's content is wanted: false if the
    /// stream has failed.
    private mutating func debitWindow(
        of stream: StreamID, by count: Int, _ now: Duration
    ) throws(HTTP2ConnectionError) -> Bool {
        // No content yet: checks whether content is allowed now.
        do throws(MessageError) {
            try streams.with(stream) { entry throws(MessageError) in try entry.reader.readContent(0) }
        } catch {
            try failStream(stream, .message(error), now)
            return false
        }
        do throws(FlowControlError) {
            try streams.with(stream) { entry throws(FlowControlError) in
                try entry.receiveWindow.debit(count)
            }
        } catch {
            try failStream(stream, .flowControl(error), now)
            return false
        }
        return true
    }

    /// Handles a frame on a stream that was reset or refused: the peer may have sent the frame before it knew of this (§5.1). The
    /// stream's window limits the octets of such frames; if the stream is forgotten, the number of frames is limited.
    private mutating func receiveLate(
        _ type: FrameType, _ stream: StreamID, _ count: Int, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        switch streams.classifyLate(count, on: stream) {
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
        // The owner may have reset the stream since the frame began.
        let room = streams.with(stream) { $0.reader.contentRoom } ?? 0
        let count = min(room, range.count)
        if count > 0, incoming.handle(.content(count)) == .deliver {
            unconsumed &+= count
            emit(.content(stream, range.lowerBound..<(range.lowerBound &+ count)))
        }
        do throws(MessageError) {
            try streams.with(stream) { entry throws(MessageError) in
                if count > 0 { try entry.reader.readContent(count) }
                // One octet more than allowed, so that the reader throws its error.
                if count < range.count { try entry.reader.readContent(1) }
            }
        } catch {
            try failStream(stream, .message(error), now)
        }
        // The excess is counted, but not delivered.
        guard count < range.count else { return }
        _ = incoming.handle(.drop)
        _ = incoming.handle(.content(range.count &- count))
    }

    /// Ends the DATA frame: the octets that were not delivered are returned to the windows.
    mutating func endData(
        _ stream: StreamID, _ endsStream: Bool, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        guard case .settle(let count, let isWanted) = incoming.handle(.end) else { return }
        release(count.dropped, on: stream, isOpen: isWanted)
        floodGuard.recordContent(count.content)
        try floodGuard.record(.paddingOctets, count.padding, at: now)
        if count.delivered >= FloodGuard.minimumContent { floodGuard.recordProgress(.received) }
        if count.content == 0, !endsStream { try floodGuard.record(.emptyData, at: now) }
        guard isWanted, endsStream, streams.isOpen(stream) else { return }
        do throws(MessageError) {
            try streams.with(stream) { entry throws(MessageError) in try entry.reader.end() }
        } catch {
            return try failStream(stream, .message(error), now)
        }
        endPeerSide(of: stream, by: .data(endsStream: true), trailers: Fields())
    }

    /// Returns consumed or dropped octets to the windows, and sends WINDOW_UPDATE once the increment is large enough.
    mutating func release(_ count: Int, on stream: StreamID, isOpen: Bool) {
        // Called even if `count` is 0: the peer may have used up its window meanwhile, so that an update is now due.
        let increment = receiveWindow.release(count)
        if increment > 0 {
            output.answer { FrameWriter.windowUpdate(.connection, increment: increment, into: &$0) }
        }
        guard isOpen else { return }
        let streamIncrement =
            streams.with(stream) { $0.peerMaySend ? $0.receiveWindow.release(count) : 0 } ?? 0
        if streamIncrement > 0 {
            output.answer { FrameWriter.windowUpdate(stream, increment: streamIncrement, into: &$0) }
        }
    }
}
