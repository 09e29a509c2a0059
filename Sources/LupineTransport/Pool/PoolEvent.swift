// SPDX-License-Identifier: MIT

/// How many connections a pool keeps, and how long.
package struct PoolLimits: Hashable, Sendable {
    /// Connections of one key, dials under way included. Browsers and URLSession settled on 6. Connections that carry several
    /// exchanges and are lent no more are left out, up to as many again.
    package var perHost: Int
    /// Connections of all keys together, dials under way included.
    package var total: Int
    /// How long a connection may lie idle.
    package var idleTimeout: Interval
    /// How old a connection may grow before it is lent no more; `nil`: any age.
    package var maximumAge: Interval?

    /// Limits below 1 count as 1: a pool that may open nothing would let everybody wait for ever.
    package init(
        perHost: Int = 6, total: Int = 512, idleTimeout: Interval = .seconds(60), maximumAge: Interval? = nil
    ) {
        self.perHost = max(1, min(perHost, Int(Int32.max)))
        self.total = max(1, min(total, Int(Int32.max)))
        self.idleTimeout = idleTimeout
        self.maximumAge = maximumAge
    }
}

/// What happened, told to a `PoolMachine`.
package enum PoolEvent: Sendable {
    /// An exchange wants a connection; with `needsFresh`, one that has carried nothing before. The highest priority is
    /// served first, and among equals those that have been sent before, as often as `replays` says. With a `loop` it had
    /// best run on a connection of that loop.
    case submit(
        ExchangeID, to: Origin, needsFresh: Bool, priority: Float = Exchange.defaultPriority,
        replays: Int = 0, loop: Int? = nil
    )
    /// A web socket wants a place on a connection that is there and takes web sockets; it fails at once where there is none.
    case submitWebSocket(ExchangeID, to: Origin)
    /// A dial has found that a connection to another origin may carry what it was opened for. It ends, where that connection has
    /// room; otherwise it goes on.
    case coalesce(ConnectionID, onto: ConnectionID)
    /// The server of another origin does not answer for this one (421).
    case misdirected(Origin)
    /// A waiting exchange has another priority. Means nothing once the waiter has been answered.
    case reprioritise(WaiterID, Float)
    /// A waiting exchange was cancelled. Means nothing once the waiter has been answered.
    case cancel(WaiterID)
    /// A dial has its connection, which carries `capacity` exchanges at once: HTTP/1.1, and what serves one exchange alone,
    /// carries one; HTTP/2 several, of which the pool lends as many as the peer has allowed last. With a `home` it has turned
    /// out to be another key's: it carries the exchange that it is tied to and belongs there from then on. It lives on that
    /// loop.
    case connected(ConnectionID, capacity: Int, home: Origin? = nil, loop: Int? = nil)
    /// A dial asks somebody about its peer: whoever would be served by it next is tied to it, and it serves nobody else
    /// first. Where nobody waits any more, it is given up.
    case claim(ConnectionID)
    /// The exchange that a dial is tied to was cancelled. Means nothing once the dial has ended.
    case cancelClaim(ConnectionID)
    /// A dial came to nothing.
    case dialFailed(ConnectionID)
    /// A dial met EMFILE or ENFILE.
    case descriptorsExhausted(ConnectionID)
    /// One exchange on the connection has ended.
    case finished(ConnectionID, Reuse)
    /// The connection takes no further exchange; those it carries go on. Where its peer has sent some of them away, it has
    /// `carried` so many others in its life.
    case retire(ConnectionID, carried: Int? = nil)
    /// The connection carries so many exchanges at once from here on, perhaps none; those that are more go on. Told of
    /// connections that carry several only.
    case capacity(ConnectionID, Int)
    /// The connection's peer takes web sockets from here on.
    case takesWebSockets(ConnectionID)
    /// The connection is gone with all it carried: RDHUP, an error, stray bytes. Its descriptor is the driver's to
    /// close; no `close` follows.
    case lost(ConnectionID)
    /// The instant asked for by `wake` has come.
    case tick
    /// Close whatever lies idle.
    case dropIdle
    /// No more exchanges: waiters fail, idle connections close, lent ones close when they are returned.
    case shutDown

    /// What the codec's verdict and the server's hint say about using a connection again.
    package enum Reuse: Hashable, Sendable {
        case reusable(KeepAlive)
        case notReusable
    }
}

/// What the driver of a `PoolMachine` is to do, in the order given.
package enum PoolAction: Hashable, Sendable {
    /// Run the exchange. `reused`: the connection has carried an earlier one.
    case run(ExchangeID, on: ConnectionID, reused: Bool)
    /// The exchange waits; `cancel` takes the waiter's name.
    case wait(ExchangeID, as: WaiterID)
    /// Open a connection, on that loop if one is named, and report `connected`, `dialFailed` or `descriptorsExhausted`.
    case dial(ConnectionID, to: Origin, loop: Int? = nil)
    /// Give up a dial and close what it has opened; nothing is to be reported.
    case abandonDial(ConnectionID)
    /// Close the connection; nothing is to be reported.
    case close(ConnectionID, CloseReason)
    /// The exchange got no connection. `dialFailed` and `descriptorsExhausted` refer to the event just handled.
    case fail(ExchangeID, PoolFailure)
    /// Report `tick` at the instant, which replaces any asked for before.
    case wake(at: Instant)
}

/// Why the pool closes a connection.
package enum CloseReason: Hashable, Sendable {
    /// Idle for too long, too old, or at the end of what the server granted.
    case expired
    /// The exchange left it unusable, or it was retired.
    case notReusable
    /// It made room for a connection to another origin, or for a fresh one.
    case madeRoom
    /// The process ran out of descriptors.
    case descriptorsExhausted
    /// Nobody wants it: `dropIdle`, `shutDown`, or a dial that ended after it had been given up.
    case unwanted
}

/// Why an exchange got no connection.
package enum PoolFailure: Error, Hashable, Sendable {
    case dialFailed
    case descriptorsExhausted
    case cancelled
    case shutDown
    /// No connection is there that takes web sockets and has room: one of their own is to be opened.
    case noneTakesWebSockets
}
