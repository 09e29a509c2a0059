// SPDX-License-Identifier: MIT

/// The limits of a pool's connections.
package struct PoolLimits: Hashable, Sendable {
    /// The limit of connections of one key, dials included. Browsers and URLSession settled on 6. Of the multiplexed
    /// connections that are no longer leased and still carry exchanges, as many as this limit do not count.
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
    /// An exchange needs a connection. If `needsFresh` is true, the connection must not have carried an exchange before. The
    /// exchange with the highest priority is served first, and among equals the one that has been sent most often (`replays`).
    /// With a `loop`, the exchange prefers a connection of that loop.
    case submit(
        ExchangeID, to: Origin, needsFresh: Bool, priority: Float = ExchangePriority.normal,
        replays: Int = 0, loop: Int? = nil
    )
    /// A WebSocket exchange needs an open connection that accepts WebSockets and can carry another exchange. It fails at once if
    /// there is none.
    case submitWebSocket(ExchangeID, to: Origin)
    /// A dial (the first parameter) has found an open connection to another origin that can carry its exchanges. The dial ends if
    /// that connection can still carry another exchange; otherwise the dial continues.
    case coalesce(ConnectionID, onto: ConnectionID)
    /// The server of another origin has answered 421 for this origin.
    case misdirected(Origin)
    /// A waiting exchange has a new priority. Has no effect once the waiter has been served.
    case reprioritise(WaiterID, Float)
    /// A waiting exchange was cancelled. Has no effect once the waiter has been served.
    case cancel(WaiterID)
    /// A dial has opened its connection, which runs on `loop` and carries `capacity` exchanges at once. The capacity is 1 over
    /// HTTP/1.1, and if the connection serves one exchange only. It is larger over HTTP/2; the pool then leases the connection to
    /// as many exchanges as the peer last allowed. `newKey` is given if the program's decision about the peer has changed the TLS
    /// profile, and so the key. The connection then carries the exchange that the dial is tied to, and after it serves only the
    /// new key.
    case connected(ConnectionID, capacity: Int, newKey: Origin? = nil, loop: Int? = nil)
    /// A dial needs the program's decision about its peer. The machine ties the dial to the waiter that it would serve next; that
    /// exchange runs first on the connection. If there is no waiter, the machine abandons the dial.
    case claim(ConnectionID)
    /// The exchange that a dial is tied to was cancelled. Has no effect once the dial has ended.
    case cancelClaim(ConnectionID)
    /// A dial failed.
    case dialFailed(ConnectionID)
    /// A dial failed with EMFILE or ENFILE: the process or the system has no descriptor left.
    case descriptorsExhausted(ConnectionID)
    /// One exchange on the connection has ended.
    case finished(ConnectionID, Reuse)
    /// The connection accepts no further exchanges; those it carries continue. If its peer has rejected some exchanges,
    /// `carried` is the number of exchanges that the connection has carried in total.
    case retire(ConnectionID, carried: Int? = nil)
    /// The connection's limit of concurrent exchanges has changed, possibly to 0; running exchanges above the limit continue.
    /// Only reported for multiplexed connections.
    case capacityChanged(ConnectionID, Int)
    /// The connection's peer has announced that it accepts WebSockets (RFC 8441 §3).
    case acceptsWebSockets(ConnectionID)
    /// The connection has ended with all its exchanges: the peer has closed it, it has failed, or bytes arrived that belong to
    /// no exchange. The driver closes its descriptor; the machine sends no `close` action for it.
    case lost(ConnectionID)
    /// The time of the last `wake` action has been reached.
    case tick
    /// All idle connections must be closed.
    case dropIdle
    /// The pool shuts down: waiters and later exchanges fail, and idle connections close. A leased connection closes when its
    /// exchange ends.
    case shutDown

    /// Whether a connection can be reused, according to the codec and the server's hint.
    package enum Reuse: Hashable, Sendable {
        case reusable(KeepAlive)
        case notReusable
    }
}

/// An action of a `PoolMachine`. Its driver performs the actions of an event in their order.
package enum PoolAction: Hashable, Sendable {
    /// Run the exchange. `reused` says whether the connection has carried an earlier one.
    case run(ExchangeID, on: ConnectionID, reused: Bool)
    /// The exchange waits in a queue. The waiter's ID is for the events `cancel` and `reprioritise`.
    case wait(ExchangeID, as: WaiterID)
    /// Open a connection, on that loop if one is given, and then report the event `connected`, `dialFailed` or
    /// `descriptorsExhausted`.
    case dial(ConnectionID, to: Origin, loop: Int? = nil)
    /// Abandon a dial and close what it has opened. The driver reports no event for it.
    case abandonDial(ConnectionID)
    /// Close the connection. The driver need not report its end.
    case close(ConnectionID, CloseReason)
    /// Fail the exchange, which got no connection. With `dialFailed` and `descriptorsExhausted`, the error is that of the event.
    case fail(ExchangeID, PoolFailure)
    /// Report the event `tick` at that time. The time replaces that of an earlier action.
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
