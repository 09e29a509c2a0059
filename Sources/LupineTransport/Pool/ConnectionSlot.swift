// SPDX-License-Identifier: MIT

/// Identifies one connection of a pool from the moment its dial begins until it is closed. Never reused: an event that arrives
/// late finds no connection and is ignored.
package struct ConnectionID: Hashable, Sendable {
    /// The index of the connection's slot.
    let index: Int32
    /// The number of earlier connections in the slot.
    let generation: UInt32

    init(index: Int32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

    /// A number that is unique in the pool, for logs and tables.
    package var rawValue: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: index)) }
}

/// The life cycle of one connection as the pool sees it, from the start of its dial to its close.
///
/// It counts the exchanges on the connection without knowing their identity. Pure: no clock, socket or lock.
struct ConnectionSlot {
    enum State: Hashable {
        case vacant  // → dialing
        case dialing(Dial)  // → idle, vacant
        case idle(until: Instant)  // → busy, vacant
        case busy(exchanges: Int32)  // → busy, idle, retiring, vacant
        case retiring(exchanges: Int32)  // → retiring, vacant; never leased
    }

    /// The state of a dial.
    struct Dial: Hashable {
        /// The sequence number of the pool's newest waiter when the dial began (`WaiterSlab.lastSequence`): if the dial fails,
        /// later waiters do not fail with it.
        var lastWaiter: UInt64
        /// Whether the dial was retried after descriptors had run out.
        var wasRetried = false
        /// The exchange that the dial is tied to: its task answers the questions about the peer.
        var claimant: ExchangeID?
        /// Whether that exchange needs a connection that has carried nothing before.
        var needsFresh = false
    }

    enum Event {
        /// A dial begins.
        case dial(lastWaiter: UInt64)
        case retryDial
        case claim(ExchangeID, needsFresh: Bool)
        /// The dial has opened the connection, which can carry `capacity` exchanges at once; more than 1 means HTTP/2.
        /// `allowed` is the last stream limit that the peer announced on a multiplexed connection; nil if it announced none.
        case connected(capacity: Int32, allowed: Int32? = nil, loop: Int? = nil)
        /// The limit of concurrent exchanges has changed.
        case capacity(Int32)
        /// Another exchange runs on the connection.
        case lease
        /// An exchange on the connection has ended.
        case finished(PoolEvent.Reuse)
        /// The connection must not be leased again.
        case retire
        /// The dial has failed or was abandoned, or the connection was lost.
        case gone
    }

    /// The consequence of an event for the pool.
    enum Effect: Hashable {
        /// The connection stays, but accepts no further exchange now.
        case none
        /// The connection can carry another exchange.
        case available
        /// The descriptor must be closed; the slot is vacant.
        case close
    }

    private(set) var state = State.vacant
    private(set) var generation: UInt32 = 0
    private(set) var key = LinkTable.none
    /// The number of the loop that the connection runs on.
    private(set) var loop: Int?
    /// The time from which the connection is too old to be leased.
    private var retiresAt = Instant.distantFuture
    /// The limit of concurrent exchanges; 0 while the peer accepts no requests.
    private var capacity: Int32 = 1
    /// Whether it speaks HTTP/2 and so can carry several exchanges at once. True even if its peer currently allows fewer, and
    /// until the slot is assigned again.
    private(set) var isMultiplexed = false
    /// Whether its peer accepts WebSockets besides other exchanges (RFC 8441).
    var acceptsWebSockets = false
    /// The keys of other origins whose exchanges it also carries.
    var coalescedKeys = LinkList()
    /// The number of further exchanges that the server accepts (`KeepAlive.maximum`); `Int.max` if it has named none.
    private var remaining = Int.max
    /// Whether it has carried an exchange.
    private(set) var wasUsed = false
    /// The number of exchanges that have ended on a multiplexed connection.
    private(set) var ended: Int32 = 0

    var isIdle: Bool { if case .idle = state { true } else { false } }

    /// The exchange that is tied to the dial.
    var claimant: ExchangeID? { if case .dialing(let dial) = state { dial.claimant } else { nil } }

    var isRetiring: Bool { if case .retiring = state { true } else { false } }

    /// Whether the connection can carry another exchange; its age is not checked.
    var isAvailable: Bool {
        switch state {
        case .idle: capacity > 0
        case .busy(let exchanges): exchanges < capacity && remaining > 0
        case .vacant, .dialing, .retiring: false
        }
    }

    /// Whether the connection must not be leased any more because of its age or idle time.
    func isExpired(at now: Instant) -> Bool {
        // `until` is never later than `retiresAt`.
        if case .idle(let until) = state { until <= now } else { retiresAt <= now }
    }

    /// Assigns the vacant slot to a key. It stays vacant until the event `dial`.
    mutating func assign(to key: Int32) {
        self.key = key
        loop = nil
        capacity = 1
        isMultiplexed = false
        acceptsWebSockets = false
        remaining = .max
        wasUsed = false
        ended = 0
        retiresAt = .distantFuture
    }

    /// Moves the connection to another key.
    mutating func move(to key: Int32) { self.key = key }

    /// The only writer of `state`, together with the private functions that it calls.
    mutating func handle(_ event: Event, at now: Instant, limits: PoolLimits) -> Effect {
        switch (state, event) {
        case (.vacant, .dial(let lastWaiter)):
            state = .dialing(Dial(lastWaiter: lastWaiter))
            return .none
        case (.dialing(var dial), .retryDial):
            dial.wasRetried = true
            state = .dialing(dial)
            return .none
        case (.dialing(var dial), .claim(let exchange, let needsFresh)):
            precondition(dial.claimant == nil, "a dial was claimed twice")
            dial.claimant = exchange
            dial.needsFresh = needsFresh
            state = .dialing(dial)
            return .none
        case (.dialing, .connected(let capacity, let allowed, let loop)):
            self.loop = loop
            return connected(capacity, allowed: allowed, at: now, limits: limits)
        case (.idle, .capacity(let capacity)), (.busy, .capacity(let capacity)),
            (.retiring, .capacity(let capacity)):
            self.capacity = max(0, capacity)
            return isAvailable ? .available : .none
        case (.idle, .lease):
            precondition(isAvailable, "a connection that takes nothing was lent")
            return lease(after: 0)
        case (.busy(let exchanges), .lease):
            precondition(isAvailable, "a full connection was lent")
            return lease(after: exchanges)
        case (.busy(let exchanges), .finished(.reusable(let hint))):
            return finish(oneOf: exchanges, hint, at: now, limits: limits)
        case (.busy(let exchanges), .finished(.notReusable)),
            (.retiring(let exchanges), .finished):
            if exchanges <= 1 { return vacate() }
            state = .retiring(exchanges: exchanges - 1)
            return .none
        case (.busy(let exchanges), .retire):
            state = .retiring(exchanges: exchanges)
            return .none
        case (.retiring, .retire):
            return .none
        case (.idle, .retire), (.dialing, .gone), (.idle, .gone), (.busy, .gone), (.retiring, .gone):
            return vacate()
        case (.vacant, .claim), (.idle, .claim), (.busy, .claim), (.retiring, .claim),
            (.vacant, .capacity), (.dialing, .capacity),
            (.vacant, .retryDial), (.vacant, .connected), (.vacant, .lease), (.vacant, .finished),
            (.vacant, .retire), (.vacant, .gone), (.dialing, .dial), (.dialing, .lease),
            (.dialing, .finished),
            (.dialing, .retire), (.idle, .dial), (.idle, .retryDial), (.idle, .connected), (.idle, .finished),
            (.busy, .dial), (.busy, .retryDial), (.busy, .connected), (.retiring, .dial),
            (.retiring, .retryDial),
            (.retiring, .connected), (.retiring, .lease):
            preconditionFailure("\(event) is impossible while \(state)")
        }
    }

    /// Makes the dialed connection leasable.
    private mutating func connected(
        _ capacity: Int32, allowed: Int32?, at now: Instant, limits: PoolLimits
    ) -> Effect {
        isMultiplexed = capacity > 1
        self.capacity = max(0, isMultiplexed ? min(capacity, allowed ?? capacity) : capacity)
        if let age = limits.maximumAge { retiresAt = now + age }
        state = .idle(until: min(now + limits.idleTimeout, retiresAt))
        return isAvailable ? .available : .none
    }

    /// Ends one of the `exchanges` that are running; the peer agrees to further ones, within the limits of `hint`.
    private mutating func finish(
        oneOf exchanges: Int32, _ hint: KeepAlive, at now: Instant, limits: PoolLimits
    ) -> Effect {
        if isMultiplexed, ended < .max { ended += 1 }
        if let maximum = hint.maximum { remaining = max(0, maximum) }
        let isSpent = remaining == 0 || retiresAt <= now
        if exchanges > 1 {
            state = isSpent ? .retiring(exchanges: exchanges - 1) : .busy(exchanges: exchanges - 1)
            return isAvailable ? .available : .none
        }
        if isSpent { return vacate() }
        let timeout = min(limits.idleTimeout, hint.safeTimeout ?? limits.idleTimeout)
        guard timeout > .zero else { return vacate() }
        state = .idle(until: min(now + timeout, retiresAt))
        return isAvailable ? .available : .none
    }

    /// Counts one more exchange besides the `exchanges` that are running.
    private mutating func lease(after exchanges: Int32) -> Effect {
        if remaining != .max { remaining -= 1 }
        wasUsed = true
        state = .busy(exchanges: exchanges + 1)
        return isAvailable ? .available : .none
    }

    /// Makes the slot vacant. Changes its generation, so that late events find no connection.
    private mutating func vacate() -> Effect {
        state = .vacant
        key = LinkTable.none
        generation &+= 1
        return .close
    }
}
