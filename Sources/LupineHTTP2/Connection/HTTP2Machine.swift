// SPDX-License-Identifier: MIT

import LupineHTTP

/// One HTTP/2 connection, from either end: RFC 9113.
///
/// Sans-IO and pure: octets and the time go in, events and octets to send come out. It owns what a connection shares, namely
/// header compression, windows, settings and the table of streams, and holds the peer to the rules and to
/// `HTTP2Limits`. Whoever owns it reads the socket, writes what `takeOutput` and `sendContent` give it, and decides
/// which stream sends when. Content is never copied: it is told of as ranges of the input, and goes out behind a frame
/// header that is written here.
///
/// What it keeps is bounded whatever the peer does. A machine that has thrown throws the same again; GOAWAY is then the last
/// frame in its output.
package struct HTTP2Machine: Sendable {
    let role: HTTP2Role
    let limits: HTTP2Limits
    var reader: FrameReader
    var decoder: HPACKDecoder
    var encoder: HPACKEncoder
    var exchange: SettingsExchange
    var streams: StreamTable
    var sendWindow = FlowWindow()
    var receiveWindow: ReceiveWindow
    var floods: FloodGuard
    var output = ControlOutput()
    var goAway = GoAwayState()
    var incoming = IncomingData()
    /// Priorities of streams that the client has not opened yet.
    var earlyPriorities: [StreamID: [UInt8]] = [:]
    /// How many octets the HEADERS of the stream that was opened last have, with CONTINUATION.
    package var openingOctets = 0
    /// Content that went upward and of which `consumed` has not been told.
    var unconsumed = 0
    /// PINGs whose answers are to come.
    var pingsAwaited = 0
    /// Room for a header block that goes out, which the next one uses again.
    var block: [UInt8] = []
    private var events = EventQueue()
    private var failure: HTTP2ConnectionError?

    /// A machine for a fresh connection, whose preface waits to be sent. The connection's receive window becomes
    /// `window`, if that is larger than the initial one. A client never lets itself be pushed to. The limit of header lists is
    /// announced unless `settings` has one.
    package init(
        _ role: HTTP2Role, settings: HTTP2Settings = HTTP2Machine.defaultSettings,
        window: Int = FlowWindow.initial, limits: HTTP2Limits = HTTP2Limits(), at now: Duration
    ) {
        self.role = role
        self.limits = limits
        reader = FrameReader(role, limits: limits.frames)
        reader.allowsPush = false
        decoder = HPACKDecoder(limits: limits.lists)
        encoder = HPACKEncoder(tableSizeLimit: limits.encoderTableOctets)
        exchange = SettingsExchange(role)
        streams = StreamTable(role, remembered: limits.rememberedStreams)
        receiveWindow = ReceiveWindow(FlowWindow.initial)
        floods = FloodGuard(limits: limits)
        if role == .client { output.write { $0 += FrameReader.clientPreface } }
        var settings = settings
        settings.maxHeaderListSize = settings.maxHeaderListSize ?? limits.lists.listOctets
        announce(settings, at: now, isFirst: true)
        raiseWindow(to: window)
    }

    /// What an end announces unless it is told otherwise: a hundred streams, the least that RFC 9113 §6.5.2 recommends.
    package static var defaultSettings: HTTP2Settings {
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = 100
        return settings
    }

    // MARK: what is known

    /// What the peer has set.
    package var peerSettings: HTTP2Settings { exchange.peer }
    /// Whether the peer has said what it allows: its first SETTINGS have come.
    package var peerHasSet: Bool { exchange.peerHasSet }
    /// What this end has announced.
    package var settings: HTTP2Settings { exchange.own }
    /// How many streams are open or half closed.
    package var streamCount: Int { streams.count }
    /// The streams that are open or half closed, in order.
    package var openStreams: [StreamID] { streams.open }
    /// Since when the peer has owed an acknowledgement of SETTINGS; its owner decides how long that may be.
    package var settingsWaitSince: Duration? { exchange.waitsSince }
    /// Whether an end has said that it goes, and no streams are left: the connection can be closed.
    package var isDrained: Bool { goAway.isLeaving && streams.count == 0 }
    /// Whether the input so far ends where a frame does, so that a close has cut nothing off.
    package var isBetweenFrames: Bool { reader.isBetweenFrames }
    /// How many octets wait to be sent.
    package var waitingCount: Int { output.octets.count }
    /// What the dynamic tables count for: of what this end sends, and of what it receives.
    package var headerTableSizes: (encoder: Int, decoder: Int) { (encoder.tableSize, decoder.tableSize) }
    /// How large the connection's receive window is when everything has been consumed.
    package var windowTarget: Int { receiveWindow.target }
    /// How many octets of DATA the peer may still send on the connection.
    package var receiveRoom: Int { receiveWindow.available }
    /// How many octets were consumed of which no WINDOW_UPDATE has told yet.
    package var owedOctets: Int { receiveWindow.owed }
    /// Whether all content that came was consumed or dropped, and the window has all of it back or owes it to the peer: to be
    /// asked when nobody holds content any more. The window of a connection that has failed, or ended inside a frame, is not kept.
    package var windowsAddUp: Bool {
        guard unconsumed == 0 else { return false }
        return failure != nil || !isBetweenFrames
            || receiveWindow.available &+ receiveWindow.owed == receiveWindow.target
    }
    /// Why the connection has failed, if so.
    package var error: HTTP2ConnectionError? { failure }
    /// How many octets of DATA can be sent on the connection now, whichever stream they are of.
    package var sendRoom: Int { sendWindow.available }

    /// How many octets of DATA can be sent on a stream now.
    package func sendRoom(of stream: StreamID) -> Int {
        min(streams.sendRoom(of: stream), sendWindow.available)
    }

    // MARK: input

    /// Takes from `input` what the next event is made of. Ask again with the rest until it says `.needMore`, which leaves
    /// nothing over. `now` is the time since any moment; it never goes back.
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

    /// What a frame means. `offset` is where in the input the reader has begun.
    private mutating func handle(
        _ frame: FrameEvent, at offset: Int, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        switch frame {
        case .needMore: return
        case .dataBegan(let stream, let count): try dataBegan(stream, count, now)
        case .content(let stream, let range):
            try content(stream, (range.lowerBound &+ offset)..<(range.upperBound &+ offset), now)
        case .dataEnded(let stream, let endsStream): try dataEnded(stream, endsStream, now)
        case .headers(let stream, let block, let endsStream):
            try headers(stream, block, endsStream, now)
        case .pushPromise: throw .frame(.pushNotAllowed)
        case .priority: try floods.spend(.priorities, at: now)
        case .reset(let stream, let code): try resetCame(stream, code, now)
        case .settings(let settings): try settingsCame(settings, now)
        case .settingsAcknowledged: try settingsAcknowledged()
        case .ping(let octets):
            try floods.spend(.pings, at: now)
            output.answer { FrameWriter.ping(octets, isAcknowledgement: true, into: &$0) }
        case .pingAcknowledged(let octets):
            guard pingsAwaited > 0 else { return try floods.spend(.ignoredFrames, at: now) }
            pingsAwaited &-= 1
            tell(.pong(octets))
        case .goAway(let last, let code, let debug): try goAwayCame(last, code, debug, now)
        case .windowUpdate(let stream, let increment): try windowUpdate(stream, increment, now)
        case .priorityUpdate(let stream, let value): try priorityUpdate(stream, value, now)
        case .ignored: try floods.spend(.ignoredFrames, at: now)
        case .streamError(let stream, let error): try streamError(stream, error, now)
        }
    }

    /// Hands an event upward.
    mutating func tell(_ event: consuming HTTP2Event) { events.append(event) }

    // MARK: failing

    /// Ends the connection with an error that its owner has found, such as `.settingsTimeout`.
    package mutating func fail(_ error: HTTP2ConnectionError) {
        guard failure == nil else { return }
        failure = error
        events = EventQueue()
        let action = goAway.handle(.fail(last: role == .server ? streams.highest : .connection))
        guard case .send(let last) = action else { return }
        output.write { FrameWriter.goAway(last: last, error.code, into: &$0) }
    }

    /// Throws when the connection has failed.
    func requireLife() throws(HTTP2SendError) {
        guard failure == nil else { throw .connectionOver }
    }
}

/// Events that wait to be handed out; a frame causes one or two, except for GOAWAY, which causes one for each stream.
private struct EventQueue: Sendable {
    private var events: [HTTP2Event] = []
    /// How many of them have been handed out already; none when it is empty.
    private var first = 0

    mutating func append(_ event: consuming HTTP2Event) { events.append(event) }

    mutating func removeFirst() -> HTTP2Event? {
        guard first &+ 1 < events.count else {
            // The last one is not copied: mostly it is the only one.
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
