// SPDX-License-Identifier: MIT

/// The limits of a pool's connections.
package struct PoolLimits: Hashable, Sendable {
    /// The limit of connections of one key, dials included. Browsers and URLSession settled on 6. Multiplexed connections that
    /// are no longer leased do not count, up to the same number again.
    package var perHost: Int
    /// The limit of connections of all keys together, dials included.
    package var total: Int
    /// How long a connection may stay idle.
    package var idleTimeout: Interval
    /// The age from which a connection is no longer leased; `nil` for no limit.
    package var maximumAge: Interval?

    /// Creates limits. Counts below 1 are raised to 1: a pool that may open no connection would make every exchange wait for
    /// ever.
    package init(
        perHost: Int = 6, total: Int = 512, idleTimeout: Interval = .seconds(60), maximumAge: Interval? = nil
    ) {
        self.perHost = max(1, min(perHost, Int(Int32.max)))
        self.total = max(1, min(total, Int(Int32.max)))
        self.idleTimeout = idleTimeout
        self.maximumAge = maximumAge
    }
}

/// An event passed to a `PoolMachine`.
package enum PoolEvent: Sendable {
    /// An exchange needs a connection; with `needsFresh`, one that has carried nothing before. The highest priority is served
    /// first, and among equals those that have been sent most often before (`replays`). With a `loop`, the exchange prefers a
    /// connection of that loop.
    case submit(
        ExchangeID, to: Origin, needsFresh: Bool, priority: Float = ExchangePriority.normal,
        replays: Int = 0, loop: Int? = nil
    )
    /// A WebSocket exchange needs an open connection that accepts WebSockets and has room; it fails at once if there is none.
    case submitWebSocket(ExchangeID, to: Origin)
    /// A dial has found that a connection to another origin can carry its exchanges. The dial ends if that connection can
    /// still take an exchange; otherwise it continues.
    case coalesce(ConnectionID, onto: ConnectionID)
    /// The server of another origin has answered 421 for this origin.
    case misdirected(Origin)
    /// A waiting exchange has a new priority. Has no effect once the waiter has been served.
    case reprioritise(WaiterID, Float)
    /// A waiting exchange was cancelled. Has no effect once the waiter has been served.
    case cancel(WaiterID)
    /// A dial has opened its connection, which carries `capacity` exchanges at once: one over HTTP/1.1 or if the connection
    /// serves one exchange only; several over HTTP/2, of which the pool leases as many as the peer last allowed. If
    /// `newKey` is given, the program's answer about the peer has changed the TLS profile, and so the key: the connection carries
    /// the exchange that it is tied to, and then serves only the new key. `loop` is the loop that it runs on.
    case connected(ConnectionID, capacity: Int, newKey: Origin? = nil, loop: Int? = nil)
    /// A dial needs an answer of the program about its peer. The waiter that the dial would serve next is tied to it, and is the
    /// first that runs on its connection. Without a waiter, the dial is abandoned.
    case claim(ConnectionID)
    /// The exchange that a dial is tied to was cancelled. Has no effect once the dial has ended.
    case cancelClaim(ConnectionID)
    /// A dial failed.
    case dialFailed(ConnectionID)
    /// A dial failed with EMFILE or ENFILE.
    case descriptorsExhausted(ConnectionID)
    /// One exchange on the connection has ended.
    case finished(ConnectionID, Reuse)
    /// The connection accepts no further exchanges; those it carries continue. If its peer has rejected some of them,
    /// `carried` is the number of exchanges that the connection has carried in total.
    case retire(ConnectionID, carried: Int? = nil)
    /// The connection's limit of concurrent exchanges has changed, possibly to 0; running exchanges above the limit continue.
    /// Only reported for multiplexed connections.
    case capacity(ConnectionID, Int)
    /// The connection's peer has announced that it accepts WebSockets (RFC 8441 §3).
    case acceptsWebSockets(ConnectionID)
    /// The connection is gone with all its exchanges: RDHUP, an error, stray bytes. The driver closes its descriptor; no
    /// `close` follows.
    case lost(ConnectionID)
    /// The time of the last `wake` action has been reached.
    case tick
    /// All idle connections must be closed.
    case dropIdle
    /// The pool shuts down: waiters and later exchanges fail, idle connections close, leased ones close when they are returned.
    case shutDown

    /// Whether a connection can be reused, according to the codec and the server's hint.
    package enum Reuse: Hashable, Sendable {
        case reusable(KeepAlive)
        case notReusable
    }
}

/// An action for the driver of a `PoolMachine`, to be performed in the given order.
package enum PoolAction: Hashable, Sendable {
    /// Run the exchange. `reused`: the connection has carried an earlier one.
    case run(ExchangeID, on: ConnectionID, reused: Bool)
    /// The exchange waits; `cancel` takes the waiter's ID.
    case wait(ExchangeID, as: WaiterID)
    /// Open a connection, on that loop if one is given, and report `connected`, `dialFailed` or `descriptorsExhausted`.
    case dial(ConnectionID, to: Origin, loop: Int? = nil)
    /// Abandon a dial and close what it has opened; nothing is reported.
    case abandonDial(ConnectionID)
    /// Close the connection; nothing is reported.
    case close(ConnectionID, CloseReason)
    /// The exchange got no connection. `dialFailed` and `descriptorsExhausted` refer to the event just handled.
    case fail(ExchangeID, PoolFailure)
    /// Report `tick` at that time, which replaces any requested before.
    case wake(at: Instant)
}

/// The reason for which the pool closes a connection.
package enum CloseReason: Hashable, Sendable {
    /// Idle for too long, too old, or at the limit that the server set.
    case expired
    /// The exchange left it unusable, or it was retired.
    case notReusable
    /// Closed to make room for a connection to another origin, or for a fresh one.
    case madeRoom
    /// The process ran out of descriptors.
    case descriptorsExhausted
    /// Not needed: `dropIdle`, `shutDown`, or a dial that completed after it had been abandoned.
    case unwanted
}

/// The reason for which an exchange got no connection.
package enum PoolFailure: Error, Hashable, Sendable {
    case dialFailed
    case descriptorsExhausted
    case cancelled
    case shutDown
    /// No open connection accepts another WebSocket: one must be dialled for it.
    case noneAcceptsWebSockets
}
