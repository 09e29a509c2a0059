// SPDX-License-Identifier: MIT

import LupineHTTP

/// One HTTP/2 connection, as a client or a server: RFC 9113.
///
/// Pure, without I/O: it takes octets and the time, and returns events and octets to send. It owns the shared state of the
/// connection, namely header compression, windows, settings and the table of streams, and enforces the protocol and
/// `HTTP2Limits`. Its owner reads the socket, writes the output of `takeOutput` and `sendContent`, and decides which
/// stream sends when. Content is never copied: received content is returned as ranges of the input, and for sent content
/// the machine writes only the frame header.
///
/// Its memory is bounded whatever the peer does. A machine that has thrown throws the same error again; GOAWAY is then the
/// last frame in its output.
package struct HTTP2Machine: Sendable {
    let role: HTTP2Role
    let limits: HTTP2Limits
    var reader: FrameReader
    var decoder: HPACKDecoder
    var encoder: HPACKEncoder
    var settingsExchange: SettingsExchange
    var streams: StreamTable
    var sendWindow = FlowWindow()
    var receiveWindow: ReceiveWindow
    var floodGuard: FloodGuard
    var output = ControlOutput()
    var goAway = GoAwayState()
    var incoming = IncomingData()
    /// The priorities of streams that the client has not opened yet.
    var earlyPriorities: [StreamID: [UInt8]] = [:]
    /// The number of octets of the HEADERS and CONTINUATION frames with which this endpoint opened its last stream.
    package var openingOctets = 0
    /// The octets of content that were delivered and not yet reported to `consumed(_:on:)`.
    var unconsumed = 0
    /// The number of PINGs that await their acknowledgements.
    var pingsAwaited = 0
    /// The buffer for outgoing header blocks, kept for reuse.
    var block: [UInt8] = []
    private var events = EventQueue()
    private var failure: HTTP2ConnectionError?

    /// Creates a machine for a new connection, with the preface in its output. The connection's receive window becomes
    /// `window`, if that is larger than the initial one. A client always refuses push. Unless `settings` has a limit of header
    /// lists, that of `limits` is announced.
    package init(
        _ role: HTTP2Role, settings: HTTP2Settings = HTTP2Machine.defaultSettings,
        window: Int = FlowWindow.initial, limits: HTTP2Limits = HTTP2Limits(), at now: Duration
    ) {
        self.role = role
        self.limits = limits
        reader = FrameReader(role, limits: limits.frames)
        // The settings refuse push, too. PUSH_PROMISE is an error even before the server has acknowledged them.
        reader.allowsPush = false
        decoder = HPACKDecoder(limits: limits.lists)
        encoder = HPACKEncoder(tableSizeLimit: limits.encoderTableOctets)
        settingsExchange = SettingsExchange(role)
        streams = StreamTable(role, remembered: limits.rememberedStreams)
        receiveWindow = ReceiveWindow(FlowWindow.initial)
        floodGuard = FloodGuard(limits: limits)
        if role == .client { output.write { $0 += FrameReader.clientPreface } }
        var settings = settings
        settings.maxHeaderListSize = settings.maxHeaderListSize ?? limits.lists.listOctets
        announce(settings, at: now, isFirst: true)
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
    package var openStreams: [StreamID] { streams.open }
    /// The time of the oldest SETTINGS that the peer has not acknowledged; the owner decides on the timeout.
    package var settingsPendingSince: Duration? { settingsExchange.pendingSince }
    /// Whether no streams are left after this endpoint's final GOAWAY or any GOAWAY of the peer: the connection can be closed.
    package var isDrained: Bool { goAway.isShuttingDown && streams.count == 0 }
    /// Whether the input so far ends at the end of a frame and header block, so that a close truncates nothing.
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
        return failure != nil || !isBetweenFrames
            || receiveWindow.available &+ receiveWindow.pendingIncrement == receiveWindow.target
    }
    /// The error with which the connection has failed; nil if it has not.
    package var error: HTTP2ConnectionError? { failure }
    /// The number of octets of DATA that can be sent on the connection now, on all streams together.
    package var sendRoom: Int { sendWindow.available }

    /// Returns the number of octets of DATA that can be sent on a stream now.
    package func sendRoom(of stream: StreamID) -> Int {
        min(streams.sendRoom(of: stream), sendWindow.available)
    }

    // MARK: Input

    /// Consumes the octets of the next event from `input`. The caller repeats this with the remaining input until the event is
    /// `.needMore`, which consumes all of it. `now` is the time since any fixed moment; it must not decrease.
    package mutating func next(
        _ input: Span<UInt8>, at now: Duration
    ) throws(HTTP2ConnectionError) -> (event: HTTP2Event, consumed: Int) {
        if let failure { throw failure }
        var consumed = 0
        do throws(HTTP2ConnectionError) {
            while true {
                if let event = events.removeFirst() { return (event, consumed) }
                let (frame, count) = try nextFrame(input.extracting(consumed..<input.count))
                if case .needMore = frame { return (.needMore, consumed &+ count) }
                try handle(frame, at: consumed, now)
                consumed &+= count
                guard output.provoked <= limits.waitingOctets else {
                    throw .limitExceeded(.waitingOctets, allowed: limits.waitingOctets)
                }
            }
        } catch {
            fail(error)
            throw error
        }
    }

    private mutating func nextFrame(
        _ input: Span<UInt8>
    ) throws(HTTP2ConnectionError) -> (FrameEvent, Int) {
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
        // The reader refuses it first.
        case .pushPromise: throw .frame(.pushNotAllowed)
        case .priority: try floodGuard.record(.priorities, at: now)
        case .reset(let stream, let code): try receiveReset(stream, code, now)
        case .settings(let settings): try receiveSettings(settings, now)
        case .settingsAcknowledged: try receiveSettingsAcknowledgement()
        case .ping(let octets):
            try floodGuard.record(.pings, at: now)
            output.answer { FrameWriter.ping(octets, isAcknowledgement: true, into: &$0) }
        case .pingAcknowledged(let octets):
            guard pingsAwaited > 0 else { return try floodGuard.record(.ignoredFrames, at: now) }
            pingsAwaited &-= 1
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
        guard failure == nil else { return }
        failure = error
        events = EventQueue()
        let action = goAway.handle(.fail(last: role == .server ? streams.highest : .connection))
        guard case .send(let last) = action else { return }
        output.write { FrameWriter.goAway(last: last, error.code, into: &$0) }
    }

    /// Throws if the connection has failed.
    func requireNotFailed() throws(HTTP2SendError) {
        guard failure == nil else { throw .connectionOver }
    }
}

/// The queue of events to return; a frame causes one or two, except for GOAWAY, which causes one for each refused stream.
private struct EventQueue: Sendable {
    private var events: [HTTP2Event] = []
    /// The number of events in `events` that have been returned already; 0 if the queue is empty.
    private var first = 0

    mutating func append(_ event: consuming HTTP2Event) { events.append(event) }

    mutating func removeFirst() -> HTTP2Event? {
        guard first &+ 1 < events.count else {
            // `popLast` does not copy the event, which is usually the only one.
            let event = events.popLast()
            if first > 0 {
                events.removeAll(keepingCapacity: true)
                first = 0
            }
            return event
        }
        defer { first &+= 1 }
        return events[first]
    }
}
