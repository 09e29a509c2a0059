// SPDX-License-Identifier: MIT
import Testing

@testable import LupineTransport

/// Every transition of a connection's slot that the pool can cause.
struct ConnectionSlotTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// Events that lead to the state, then the one under test.
        var events: [ConnectionSlot.Event]
        var state: ConnectionSlot.State
        var effect: ConnectionSlot.Effect
        var limits = PoolLimits()
    }

    static let finishedReusable = ConnectionSlot.Event.finished(.reusable(KeepAlive()))
    static let open: [ConnectionSlot.Event] = [.dial(lastWaiter: 1), .connected(capacity: 1)]
    static let openForTwo: [ConnectionSlot.Event] = [.dial(lastWaiter: 1), .connected(capacity: 2)]
    static let minute = Instant.zero + .seconds(60)

    static let rows = [
        Row(
            testDescription: "vacant, dial", events: [.dial(lastWaiter: 7)],
            state: .dialing(.init(lastWaiter: 7)), effect: .none),
        Row(
            testDescription: "dialing, retry", events: [.dial(lastWaiter: 7), .retryDial],
            state: .dialing(.init(lastWaiter: 7, wasRetried: true)), effect: .none),
        Row(
            testDescription: "dialing, claim",
            events: [.dial(lastWaiter: 7), .claim(ExchangeID(rawValue: 3), needsFresh: false)],
            state: .dialing(.init(lastWaiter: 7, claimant: ExchangeID(rawValue: 3))), effect: .none),
        Row(
            testDescription: "dialing, connected", events: open, state: .idle(until: minute),
            effect: .available),
        Row(
            testDescription: "dialing, connected with capacity 0",
            events: [.dial(lastWaiter: 1), .connected(capacity: 0)], state: .idle(until: minute),
            effect: .none),
        Row(
            testDescription: "dialing, connected, with fewer exchanges allowed than its capacity",
            events: [.dial(lastWaiter: 1), .connected(capacity: 9, allowed: 2), .lease, .lease],
            state: .busy(exchanges: 2), effect: .none),
        Row(
            testDescription: "dialing, connected with capacity 1, to which no allowance applies",
            events: [.dial(lastWaiter: 1), .connected(capacity: 1, allowed: 0)], state: .idle(until: minute),
            effect: .available),
        Row(
            testDescription: "an age shorter than the idle time-out bounds it", events: open,
            state: .idle(until: Instant.zero + .seconds(3)), effect: .available,
            limits: PoolLimits(maximumAge: .seconds(3))),
        Row(
            testDescription: "dialing, gone", events: [.dial(lastWaiter: 1), .gone], state: .vacant,
            effect: .close),
        Row(
            testDescription: "idle, lease", events: open + [.lease], state: .busy(exchanges: 1), effect: .none
        ),
        Row(
            testDescription: "idle, lease, with room for another", events: openForTwo + [.lease],
            state: .busy(exchanges: 1), effect: .available),
        Row(
            testDescription: "busy, lease", events: openForTwo + [.lease, .lease], state: .busy(exchanges: 2),
            effect: .none),
        Row(
            testDescription: "idle, capacity raised to 2", events: open + [.capacityChanged(2)],
            state: .idle(until: minute), effect: .available),
        Row(
            testDescription: "busy, capacity raised to 2", events: open + [.lease, .capacityChanged(2)],
            state: .busy(exchanges: 1), effect: .available),
        Row(
            testDescription: "busy, capacity lowered to 1",
            events: openForTwo + [.lease, .capacityChanged(1)],
            state: .busy(exchanges: 1), effect: .none),
        Row(
            testDescription: "busy, capacity lowered to 0",
            events: openForTwo + [.lease, .capacityChanged(0), finishedReusable], state: .idle(until: minute),
            effect: .none),
        Row(
            testDescription: "idle, capacity lowered to 0, then raised to 1",
            events: openForTwo + [.capacityChanged(0), .capacityChanged(1)], state: .idle(until: minute),
            effect: .available),
        Row(
            testDescription: "retiring, capacity raised",
            events: open + [.lease, .retire, .capacityChanged(9)],
            state: .retiring(exchanges: 1), effect: .none),
        Row(testDescription: "idle, retire", events: open + [.retire], state: .vacant, effect: .close),
        Row(testDescription: "idle, gone", events: open + [.gone], state: .vacant, effect: .close),
        Row(
            testDescription: "busy, finished and reusable", events: open + [.lease, finishedReusable],
            state: .idle(until: minute), effect: .available),
        Row(
            testDescription: "one of two finished", events: openForTwo + [.lease, .lease, finishedReusable],
            state: .busy(exchanges: 1), effect: .available),
        Row(
            testDescription: "the server's time-out, a second early",
            events: open + [.lease, .finished(.reusable(KeepAlive(timeout: .seconds(5))))],
            state: .idle(until: Instant.zero + .seconds(4)), effect: .available),
        Row(
            testDescription: "a server's time-out of a second is halved",
            events: open + [.lease, .finished(.reusable(KeepAlive(timeout: .seconds(1))))],
            state: .idle(until: Instant.zero + .milliseconds(500)), effect: .available),
        Row(
            testDescription: "a server's time-out longer than the client's",
            events: open + [.lease, .finished(.reusable(KeepAlive(timeout: .seconds(600))))],
            state: .idle(until: minute), effect: .available),
        Row(
            testDescription: "a server's time-out of zero",
            events: open + [.lease, .finished(.reusable(KeepAlive(timeout: .zero)))], state: .vacant,
            effect: .close),
        Row(
            testDescription: "the server accepts no further request",
            events: open + [.lease, .finished(.reusable(KeepAlive(maximum: 0)))], state: .vacant,
            effect: .close),
        Row(
            testDescription: "the server accepts one further request",
            events: open + [.lease, .finished(.reusable(KeepAlive(maximum: 1))), .lease, finishedReusable],
            state: .vacant,
            effect: .close),
        Row(
            testDescription: "the last grant fills a connection with room",
            events: openForTwo + [.lease, .finished(.reusable(KeepAlive(maximum: 1))), .lease],
            state: .busy(exchanges: 1), effect: .none),
        Row(
            testDescription: "the server's maximum is reached while another exchange runs",
            events: openForTwo + [.lease, .lease, .finished(.reusable(KeepAlive(maximum: 0)))],
            state: .retiring(exchanges: 1), effect: .none),
        Row(
            testDescription: "busy, finished, not reusable",
            events: open + [.lease, .finished(.notReusable)],
            state: .vacant, effect: .close),
        Row(
            testDescription: "one of two exchanges ends, not reusable",
            events: openForTwo + [.lease, .lease, .finished(.notReusable)], state: .retiring(exchanges: 1),
            effect: .none),
        Row(
            testDescription: "busy, retire", events: open + [.lease, .retire], state: .retiring(exchanges: 1),
            effect: .none),
        Row(testDescription: "busy, gone", events: open + [.lease, .gone], state: .vacant, effect: .close),
        Row(
            testDescription: "retiring, retire", events: open + [.lease, .retire, .retire],
            state: .retiring(exchanges: 1), effect: .none),
        Row(
            testDescription: "retiring, last finished", events: open + [.lease, .retire, finishedReusable],
            state: .vacant,
            effect: .close),
        Row(
            testDescription: "retiring, one of two finished",
            events: openForTwo + [.lease, .lease, .retire, finishedReusable],
            state: .retiring(exchanges: 1), effect: .none),
        Row(
            testDescription: "retiring, gone", events: open + [.lease, .retire, .gone], state: .vacant,
            effect: .close),
    ]

    @Test(arguments: rows)
    func transition(_ row: Row) {
        var slot = ConnectionSlot()
        slot.assign(to: 0)
        var effect = ConnectionSlot.Effect.none
        for event in row.events { effect = slot.handle(event, at: .zero, limits: row.limits) }
        #expect(slot.state == row.state)
        #expect(effect == row.effect)
        #expect(
            slot.generation == (row.state == .vacant ? 1 : 0),
            "the identifier of a closed connection is not used again")
    }

    @Test func aConnectionPastItsMaximumAgeClosesWhenReleased() {
        let limits = PoolLimits(maximumAge: .seconds(3))
        var slot = ConnectionSlot()
        slot.assign(to: 0)
        for event in Self.open + [.lease] { _ = slot.handle(event, at: .zero, limits: limits) }
        #expect(!slot.isExpired(at: Instant.zero + .milliseconds(2999)))
        #expect(slot.isExpired(at: Instant.zero + .seconds(3)))
        #expect(slot.handle(Self.finishedReusable, at: Instant.zero + .seconds(3), limits: limits) == .close)
    }
}
