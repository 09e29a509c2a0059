// SPDX-License-Identifier: MIT

import LupineHTTP

/// One HTTP/2 connection, as a client or a server: RFC 9113.
///
/// A machine decides, and performs no I/O: it receives octets and the time, and returns events and octets to send. It owns the
/// shared state of the connection: header compression, windows, settings and the table of streams. It enforces the protocol and
/// `HTTP2Limits`. Its owner reads the socket, writes the output of `takeOutput` and `sendContent`, and decides which stream sends
/// when. Content is never copied: the machine returns received content as ranges of the input, and writes only the frame header
/// for sent content.
///
/// The memory of a machine is bounded, whatever the peer does. After `next` has thrown, each further call of it throws the same
/// error, and GOAWAY is the last frame in the output.
package struct HTTP2Machine: Sendable {
    let role: HTTP2Role
    let limits: HTTP2Limits
    var reader: FrameReader
    var decoder: HPACKDecoder
    var encoder: HPACKEncoder
    var settingsExchange: SettingsExchange
    var streams: StreamTable
    /// The windows of the connection; those of the streams are in `streams`.
    var sendWindow = FlowWindow()
    var receiveWindow: ReceiveWindow
    /// Counts frames of the peer that cause work without progress. `record` throws when there are too many, and
    /// `recordProgress` lowers the counts.
    var floodGuard: FloodGuard
    /// The frames that wait to be sent.
    var output = ControlOutput()
    /// The GOAWAY frames that both endpoints have sent.
    var goAway = GoAwayState()
    /// The DATA frame that is being received.
    var incomingData = IncomingData()
    /// The priority field values of streams that the client has not opened yet.
    var earlyPriorities: [StreamID: [UInt8]] = [:]
    /// The number of octets of the HEADERS and CONTINUATION frames with which this endpoint opened its last stream.
    package var openingOctets = 0
    /// The number of octets of content that were delivered and not yet reported to `consumed(_:on:)`.
    var unconsumed = 0
    /// The number of PINGs that the peer has not acknowledged.
    var pendingPings = 0
    /// The buffer for outgoing header blocks, kept for reuse.
    var blockBuffer: [UInt8] = []
    /// The events that `next` has not returned yet.
    private var events = EventQueue()
    /// The error with which the connection has failed; nil if it has not.
    package private(set) var error: HTTP2ConnectionError?

    /// Creates a machine for a new connection, with the connection preface in its output. The connection's receive window becomes
    /// `window`, if that is larger than the initial one. A client always refuses push. If `settings` has no limit of header
    /// lists, the machine announces that of `limits`. `now` is the time since any fixed moment, the same one as for `next`.
    package init(
        _ role: HTTP2Role, settings: HTTP2Settings = HTTP2Machine.defaultSettings,
        window: Int = FlowWindow.initial, limits: HTTP2Limits = HTTP2Limits(), at now: Duration
    ) {
        self.role = role
        self.limits = limits
        reader = FrameReader(role, limits: limits.frames)
        // The settings refuse push, too. With this, PUSH_PROMISE is an error even before the server has acknowledged them.
        reader.allowsPush = false
        decoder = HPACKDecoder(limits: limits.lists)
        encoder = HPACKEncoder(tableSizeLimit: limits.encoderTableOctets)
        settingsExchange = SettingsExchange(role)
        streams = StreamTable(role, rememberedStreams: limits.rememberedStreams)
        receiveWindow = ReceiveWindow(FlowWindow.initial)
        floodGuard = FloodGuard(limits: limits)
        if role == .client { output.write { $0 += FrameReader.clientPreface } }
        var settings = settings
        settings.maxHeaderListSize = settings.maxHeaderListSize ?? limits.lists.listOctets
        sendSettings(settings, at: now, isFirst: true)
        raiseWindow(to: window)
    }

    /// The default settings: 100 concurrent streams, the minimum that RFC 9113 §6.5.2 recommends.
    package static var defaultSettings: HTTP2Settings {
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = 100
        return settings
    }

    // MARK: State

    /// The peer's settings.
    package var peerSettings: HTTP2Settings { settingsExchange.peer }
    /// Whether the peer's first SETTINGS have been received.
    package var hasPeerSettings: Bool { settingsExchange.hasPeerSettings }
    /// The settings that this endpoint announced last.
    package var settings: HTTP2Settings { settingsExchange.local }
    /// The number of streams that are open or half-closed.
    package var streamCount: Int { streams.count }
    /// The streams that are open or half-closed, in the order of their identifiers.
    package var openStreams: [StreamID] { streams.openStreams }
    /// The time of the oldest SETTINGS that the peer has not acknowledged; the owner decides on the timeout.
    package var settingsPendingSince: Duration? { settingsExchange.pendingSince }
    /// Whether the connection can be closed: this endpoint has sent its final GOAWAY, or the peer has sent any GOAWAY, and no
    /// streams are left.
    package var isDrained: Bool { goAway.isShuttingDown && streams.count == 0 }
    /// Whether the input so far ends at the end of a frame and header block: a close of the connection then truncates nothing.
    package var isBetweenFrames: Bool { reader.isBetweenFrames }
    /// The number of octets that wait to be sent.
    package var waitingCount: Int { output.octets.count }
    /// The sizes of the dynamic tables of the encoder and the decoder.
    package var headerTableSizes: (encoder: Int, decoder: Int) { (encoder.tableSize, decoder.tableSize) }
    /// The size of the connection's receive window when all content has been consumed.
    package var windowTarget: Int { receiveWindow.target }
    /// The number of octets of DATA that the peer may still send on the connection.
    package var receiveRoom: Int { receiveWindow.available }
    /// The number of consumed octets for which no WINDOW_UPDATE has been sent yet.
    package var pendingWindowIncrement: Int { receiveWindow.pendingIncrement }
    /// Whether all received content was consumed or dropped, and the window plus the pending increment equal the target. Tests
    /// check it after the last content was released. The window of a connection that failed or ended inside a frame is not
    /// checked.
    package var windowsAddUp: Bool {
        guard unconsumed == 0 else { return false }
        return error != nil || !isBetweenFrames
            || receiveWindow.available &+ receiveWindow.pendingIncrement == receiveWindow.target
    }
    /// The number of octets of DATA that can be sent on the connection now, on all streams together.
    package var sendRoom: Int { sendWindow.available }

    /// Returns the number of octets of DATA that can be sent on a stream now.
    package func sendRoom(of stream: StreamID) -> Int {
        min(streams.sendRoom(of: stream), sendWindow.available)
    }

    // MARK: Input

    /// Consumes the octets of the next event from `input`. The caller repeats this with the remaining input until the event is
    /// `.needMore`, which consumes all of it. `now` is the time since the same fixed moment in all calls; it must not decrease.
    package mutating func next(
        _ input: Span<UInt8>, at now: Duration
    ) throws(HTTP2ConnectionError) -> (event: HTTP2Event, consumed: Int) {
        if let error { throw error }
        var consumed = 0
        do throws(HTTP2ConnectionError) {
            while true {
                if let event = events.removeFirst() { return (event, consumed) }
                let (frame, count) = try nextFrame(input.extracting(consumed..<input.count))
                if case .needMore = frame { return (.needMore, consumed &+ count) }
                try handle(frame, at: consumed, now)
                consumed &+= count
                guard output.provokedCount <= limits.waitingOctets else {
                    throw .limitExceeded(.waitingOctets, allowed: limits.waitingOctets)
                }
            }
        } catch {
            fail(error)
            throw error
        }
    }

    /// Returns the next event of the frame reader, and the number of octets of `input` that it consumed.
    private mutating func nextFrame(
        _ input: Span<UInt8>
    ) throws(HTTP2ConnectionError) -> (event: FrameEvent, consumed: Int) {
        do throws(HTTP2Error) { return try reader.next(input) } catch { throw .frame(error) }
    }

    /// Handles a frame. `offset` is the offset in the input at which the reader started.
    private mutating func handle(
        _ frame: FrameEvent, at offset: Int, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        switch frame {
        case .needMore: return
        case .dataBegan(let stream, let count): try beginData(stream, count, now)
        case .content(let stream, let range):
            try receiveContent(stream, (range.lowerBound &+ offset)..<(range.upperBound &+ offset), now)
        case .dataEnded(let stream, let endsStream): try endData(stream, endsStream, now)
        case .headers(let stream, let block, let endsStream):
            try receiveHeaders(stream, block, endsStream, now)
        // Does not occur: the reader throws first, because it does not allow push.
        case .pushPromise: throw .frame(.pushNotAllowed)
        // Only counted: its signaling is deprecated (§5.3.2).
        case .priority: try floodGuard.record(.priorities, at: now)
        case .reset(let stream, let code): try receiveReset(stream, code, now)
        case .settings(let settings): try receiveSettings(settings, now)
        case .settingsAcknowledged: try receiveSettingsAcknowledgement()
        case .ping(let octets):
            try floodGuard.record(.pings, at: now)
            output.writeProvoked { FrameWriter.ping(octets, isAcknowledgement: true, into: &$0) }
        case .pingAcknowledged(let octets):
            // The guard fails for an acknowledgement without a PING of this endpoint.
            guard pendingPings > 0 else { return try floodGuard.record(.ignoredFrames, at: now) }
            pendingPings &-= 1
            emit(.pong(octets))
        case .goAway(let last, let code, let debug): try receiveGoAway(last, code, debug, now)
        case .windowUpdate(let stream, let increment): try receiveWindowUpdate(stream, increment, now)
        case .priorityUpdate(let stream, let value): try receivePriorityUpdate(stream, value, now)
        case .ignored: try floodGuard.record(.ignoredFrames, at: now)
        case .streamError(let stream, let error): try receiveStreamError(stream, error, now)
        }
    }

    /// Queues an event for the owner.
    mutating func emit(_ event: consuming HTTP2Event) { events.append(event) }

    // MARK: Failure

    /// Fails the connection, and writes GOAWAY. The owner calls it for errors that it detects, such as `.settingsTimeout`.
    package mutating func fail(_ error: HTTP2ConnectionError) {
        guard self.error == nil else { return }
        self.error = error
        // Events that the owner has not received are dropped.
        events = EventQueue()
        // GOAWAY names the last stream of the peer that was processed. On a client it is stream 0: a server opens no streams.
        let action = goAway.handle(.fail(last: role == .server ? streams.highestUsed : .connection))
        guard case .send(let last) = action else { return }
        output.write { FrameWriter.goAway(last: last, error.code, into: &$0) }
    }

    /// Throws if the connection has failed.
    func requireNotFailed() throws(HTTP2SendError) {
        guard error == nil else { throw .connectionOver }
    }
}

/// The queue of events to return. Most frames cause one or two; GOAWAY causes one more for each refused stream.
private struct EventQueue: Sendable {
    private var events: [HTTP2Event] = []
    /// The number of events in `events` that were removed from the queue; 0 if the queue is empty.
    private var removedCount = 0

    mutating func append(_ event: consuming HTTP2Event) { events.append(event) }

    /// Removes and returns the first event; nil if the queue is empty.
    mutating func removeFirst() -> HTTP2Event? {
        // Also true if the queue is empty: `popLast` then returns nil.
        let isLast = removedCount &+ 1 >= events.count
        guard isLast else {
            defer { removedCount &+= 1 }
            return events[removedCount]
        }
        // `popLast` does not copy the event, which is usually the only one.
        let event = events.popLast()
        if removedCount > 0 {
            events.removeAll(keepingCapacity: true)
            removedCount = 0
        }
        return event
    }
}
