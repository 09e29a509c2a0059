// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

/// A pool's machine that may speak HTTP/2, and what a test asks of it one event at a time: the actions are what is looked at.
struct MachineStage: ~Copyable {
    var machine = PoolMachine(versions: [.http11, .http2])
    private var number: UInt64 = 0

    /// What follows from an event, but for timers.
    mutating func handle(_ event: PoolEvent, at now: Instant = .zero) -> [PoolAction] {
        var actions: [PoolAction] = []
        machine.handle(event, at: now, into: &actions)
        return actions.filter { if case .wake = $0 { false } else { true } }
    }

    /// An exchange that nobody knows yet.
    mutating func exchange() -> ExchangeID {
        number += 1
        return ExchangeID(rawValue: number)
    }

    mutating func submit(
        to origin: Origin, needsFresh: Bool = false, at now: Instant = .zero
    ) -> (exchange: ExchangeID, actions: [PoolAction]) {
        let exchange = exchange()
        return (exchange, handle(.submit(exchange, to: origin, needsFresh: needsFresh), at: now))
    }

    /// An exchange that waits, and the dial that begins for it.
    mutating func dial(
        to origin: Origin, needsFresh: Bool = false, at now: Instant = .zero
    ) throws -> (exchange: ExchangeID, dial: ConnectionID) {
        let (exchange, actions) = submit(to: origin, needsFresh: needsFresh, at: now)
        for case .dial(let connection, origin, _) in actions { return (exchange, connection) }
        throw NoDial()
    }

    /// A connection that carries one exchange.
    mutating func connect(to origin: Origin, capacity: Int = 3) throws -> ConnectionID {
        let dial = try dial(to: origin).dial
        _ = handle(.connected(dial, capacity: capacity))
        return dial
    }

    /// Whether a web socket finds a place, and where.
    mutating func webSocket(to origin: Origin, at now: Instant = .zero) -> ConnectionID? {
        let exchange = exchange()
        switch handle(.submitWebSocket(exchange, to: origin), at: now).first {
        case .run(exchange, on: let connection, reused: _)?: return connection
        case let action:
            #expect(action == .fail(exchange, .noneTakesWebSockets))
            return nil
        }
    }

    /// Those of the dials that are under way.
    func dialing(_ dials: ConnectionID...) -> [ConnectionID] {
        var found: [ConnectionID] = []
        for dial in dials where machine.isDialing(dial) { found.append(dial) }
        return found
    }

    private struct NoDial: Error {}
}
