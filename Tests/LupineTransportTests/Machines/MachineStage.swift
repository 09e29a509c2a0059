// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

/// Drives a pool's machine with HTTP/2, one event at a time, for tests that look at the actions.
struct MachineStage: ~Copyable {
    var machine = PoolMachine(versions: [.http11, .http2])
    private var lastExchangeNumber: UInt64 = 0

    /// Returns the actions that an event leads to, without those for timers.
    mutating func handle(_ event: PoolEvent, at now: Instant = .zero) -> [PoolAction] {
        var actions: [PoolAction] = []
        machine.handle(event, at: now, into: &actions)
        return actions.filter { if case .wake = $0 { false } else { true } }
    }

    /// Returns the identifier of a new exchange.
    mutating func makeExchange() -> ExchangeID {
        lastExchangeNumber += 1
        return ExchangeID(rawValue: lastExchangeNumber)
    }

    mutating func submit(
        to origin: Origin, needsFresh: Bool = false, at now: Instant = .zero
    ) -> (exchange: ExchangeID, actions: [PoolAction]) {
        let exchange = makeExchange()
        return (exchange, handle(.submit(exchange, to: origin, needsFresh: needsFresh), at: now))
    }

    /// Submits an exchange for which the machine starts a dial, and returns both.
    mutating func dial(
        to origin: Origin, needsFresh: Bool = false, at now: Instant = .zero
    ) throws -> (exchange: ExchangeID, dial: ConnectionID) {
        let (exchange, actions) = submit(to: origin, needsFresh: needsFresh, at: now)
        for case .dial(let connection, origin, _) in actions { return (exchange, connection) }
        throw NoDialError()
    }

    /// Opens a connection for one exchange, which keeps running on it.
    mutating func connect(to origin: Origin, capacity: Int = 3) throws -> ConnectionID {
        let dial = try dial(to: origin).dial
        _ = handle(.connected(dial, capacity: capacity))
        return dial
    }

    /// Returns the connection that a WebSocket is given, or nil if there is none.
    mutating func webSocket(to origin: Origin, at now: Instant = .zero) -> ConnectionID? {
        let exchange = makeExchange()
        switch handle(.submitWebSocket(exchange, to: origin), at: now).first {
        case .run(exchange, on: let connection, reused: _)?: return connection
        case let action:
            #expect(action == .fail(exchange, .noneAcceptsWebSockets))
            return nil
        }
    }

    /// Returns those of `dials` that are still in progress.
    func dialing(_ dials: ConnectionID...) -> [ConnectionID] {
        var found: [ConnectionID] = []
        for dial in dials where machine.isDialing(dial) { found.append(dial) }
        return found
    }

    private struct NoDialError: Error {}
}
