// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP2

/// Tests of the small state machines of a connection: each event in each state.
@Suite struct ConnectionStateTests {
    typealias State = GoAwayState

    /// Each row has a state of this end, an event, the action that it leads to, and the next state.
    static let local: [(State.Local, State.Event, State.Action, State.Local)] = {
        let (low, high) = (StreamID(3), StreamID(7))
        return [
            (.open, .announce, .send(last: .largest), .announced),
            (.open, .shutDown(last: low), .send(last: low), .shuttingDown(last: low)),
            (.open, .fail(last: low), .send(last: low), .shuttingDown(last: low)),
            (.announced, .announce, .nothing, .announced),
            (.announced, .shutDown(last: low), .send(last: low), .shuttingDown(last: low)),
            (.announced, .fail(last: low), .send(last: low), .shuttingDown(last: low)),
            (.shuttingDown(last: low), .announce, .nothing, .shuttingDown(last: low)),
            (.shuttingDown(last: low), .shutDown(last: low), .nothing, .shuttingDown(last: low)),
            (.shuttingDown(last: low), .shutDown(last: high), .nothing, .shuttingDown(last: low)),
            (.shuttingDown(last: high), .shutDown(last: low), .send(last: low), .shuttingDown(last: low)),
            (.shuttingDown(last: low), .fail(last: high), .send(last: low), .shuttingDown(last: low)),
        ]
    }()

    static func state(_ local: State.Local) -> State {
        var state = State()
        switch local {
        case .open: break
        case .announced: _ = state.handle(.announce)
        case .shuttingDown(let last): _ = state.handle(.shutDown(last: last))
        }
        return state
    }

    @Test("[H-6.19] this end shuts down", arguments: local.indices) func ownSide(_ index: Int) {
        let (before, event, action, after) = Self.local[index]
        var state = Self.state(before)
        #expect(state.local == before)
        #expect(state.handle(event) == action)
        #expect(state.local == after)
        #expect(state.peer == .open)
        #expect(!state.allowsOpening)
        #expect(state.accepts(StreamID(5)) == (after == .announced))
    }

    @Test("[H-6.18] the peer shuts down") func peerSide() {
        var state = State()
        #expect(state.allowsOpening && !state.isShuttingDown)
        #expect(state.handle(.received(last: .largest)) == .refuse(above: .largest))
        #expect(!state.allowsOpening && state.isShuttingDown)
        #expect(state.handle(.received(last: StreamID(5))) == .refuse(above: StreamID(5)))
        #expect(state.handle(.received(last: StreamID(5))) == .refuse(above: StreamID(5)))
        #expect(state.handle(.received(last: StreamID(7))) == .raised(after: StreamID(5)))
        #expect(state.peer == .shuttingDown(last: StreamID(5)))
        #expect(state.local == .open)
    }

    @Test func dataOfOneFrame() {
        typealias Event = IncomingData.Event
        let begin = { (isWanted: Bool) in Event.begin(total: 10, isWanted: isWanted) }
        func released(_ content: Int, _ delivered: Int, _ isWanted: Bool) -> IncomingData.Action {
            .release(.init(total: 10, content: content, delivered: delivered), isWanted: isWanted)
        }
        let rows: [([Event], [IncomingData.Action])] = [
            ([.content(1), .drop, .end], [.nothing, .nothing, .nothing]),
            (
                [begin(true), .content(3), .content(4), .end, .end],
                [.nothing, .deliver, .deliver, released(7, 7, true), .nothing]
            ),
            (
                [begin(true), .content(3), .drop, .drop, .content(4), .end],
                [.nothing, .deliver, .nothing, .nothing, .nothing, released(7, 3, false)]
            ),
            (
                [begin(false), .content(3), .drop, .end],
                [.nothing, .nothing, .nothing, released(3, 0, false)]
            ),
            (
                [begin(true), .content(3), begin(true), .end],
                [.nothing, .deliver, .nothing, released(0, 0, true)]
            ),
        ]
        for (events, actions) in rows {
            var data = IncomingData()
            let found = events.map { data.handle($0) }
            #expect(found == actions)
        }
        let counts = IncomingData.OctetCounts(total: 10, content: 7, delivered: 3)
        #expect(counts.dropped == 7)
        #expect(counts.padding == 3)
    }

    // MARK: allowances

    @Test("[H-11.13] an allowance is spent, and restored in time") func allowance() throws {
        var limits = HTTP2Limits()
        limits.pings = Allowance(atOnce: 3, perSecond: 2)
        var floodGuard = FloodGuard(limits: limits)
        let start = Duration.seconds(1_000_000)
        for _ in 0..<3 { try floodGuard.record(.pings, at: start) }
        #expect(throws: HTTP2ConnectionError.limitExceeded(.pings, allowed: 3)) {
            try floodGuard.record(.pings, at: start)
        }
        floodGuard = FloodGuard(limits: limits)
        for _ in 0..<3 { try floodGuard.record(.pings, at: start) }
        // Half a second restores one; a clock that goes backwards restores nothing.
        try floodGuard.record(.pings, at: start + .milliseconds(500))
        #expect(throws: HTTP2ConnectionError.limitExceeded(.pings, allowed: 3)) {
            try floodGuard.record(.pings, at: .zero)
        }
        floodGuard = FloodGuard(limits: limits)
        for _ in 0..<3 { try floodGuard.record(.pings, at: start) }
        #expect(throws: HTTP2ConnectionError.self) {
            try floodGuard.record(.pings, at: start + .milliseconds(499))
        }
        // Credit does not accumulate above the initial allowance.
        floodGuard = FloodGuard(limits: limits)
        floodGuard.recordProgress(.received)
        for _ in 0..<3 { try floodGuard.record(.pings, at: start + .seconds(3_600 * 24)) }
        #expect(throws: HTTP2ConnectionError.self) {
            try floodGuard.record(.pings, at: start + .seconds(3_600 * 24))
        }
    }

    @Test func allowancesOfAnySize() throws {
        #expect(Allowance(atOnce: -1, perSecond: .min) == Allowance(atOnce: 0, perSecond: 0))
        var limits = HTTP2Limits()
        limits.pings = Allowance(atOnce: .max, perSecond: .max)
        limits.settings = Allowance(atOnce: 1, perSecond: .max)
        limits.resets = Allowance(atOnce: 0, perSecond: 0)
        var floodGuard = FloodGuard(limits: limits)
        for time in [Duration.seconds(Int64.max), .zero, .seconds(-5), .seconds(Int64.max)] {
            for _ in 0..<100 { try floodGuard.record(.pings, at: time) }
        }
        try floodGuard.record(.settings, at: .seconds(Int64.max))
        try floodGuard.record(.paddingOctets, 0xFF_FFFF / 100, at: .seconds(Int64.max))
        #expect(throws: HTTP2ConnectionError.limitExceeded(.resets, allowed: 0)) {
            try floodGuard.record(.resets, at: .zero)
        }
    }

    // MARK: closed streams

    @Test("[H-5.7] a fixed number of streams is remembered") func closedStreams() {
        var closed = ClosedStreams(.client, capacity: 2)
        func remembered(_ stream: UInt32) -> String {
            switch closed.record(of: StreamID(stream)) {
            case .known(let machine): "\(machine.state)"
            case .forgotten: "forgotten"
            case .skipped: "skipped"
            }
        }
        let reset = { (stream: UInt32) in HTTP2StreamMachine(.client, StreamID(stream), closed: .resetSent) }
        for stream in [1, 3] as [UInt32] { closed.remember(StreamID(stream), reset(stream), room: 10) }
        #expect(remembered(1) == "closed(LupineHTTP2.HTTP2StreamMachine.Closure.resetSent)")
        #expect(remembered(5) == "closed(LupineHTTP2.HTTP2StreamMachine.Closure.ended)")
        closed.remember(StreamID(7), reset(7), room: 10)
        #expect(closed.count == 2)
        #expect(remembered(1) == "forgotten")
        #expect(remembered(3) == remembered(7))
        let late = [(10, 7), (1, 7), (1_000, 1)].map {
            closed.classifyLateFrame(of: $0.0, on: StreamID($0.1))
        }
        #expect(late == [.expected, .tooMuch, .doubtful])
        closed.skip(StreamID(9)...StreamID(13))
        #expect(["skipped", "skipped"] == [remembered(9), remembered(13)])
        #expect(remembered(15) == remembered(5))
        var none = ClosedStreams(.client, capacity: 0)
        none.remember(StreamID(1), reset(1), room: 10)
        #expect(none.count == 0)
    }

    @Test func identifiersRunOut() throws {
        var table = StreamTable(.client, rememberedStreams: 2)
        #expect(table.nextIdentifier == StreamID(1))
        table.markUsed(StreamID(0x7FFF_FFFD))
        #expect(table.nextIdentifier == .largest)
        table.markUsed(.largest)
        #expect(table.nextIdentifier == nil)
    }
}
