// SPDX-License-Identifier: MIT

/// Identifies one connection of a pool, from the start of its dial to its close. An ID is never reused: a late event for a closed
/// connection finds no connection and is ignored.
package struct ConnectionID: Hashable, Sendable {
    /// The index of the connection's slot.
    let index: Int32
    /// The number of earlier connections that have used the slot.
    let generation: UInt32

    init(index: Int32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

    /// A number that is unique in the pool, for logs and tables.
    package var rawValue: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: index)) }
}

/// The state machine of one connection in a pool, from the start of its dial to its close.
///
/// It counts the exchanges (requests with their responses) on the connection, and does not know which they are. Pure: no clock,
/// socket or lock.
struct ConnectionSlot {
    /// The states, each with the states that may follow it.
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
        /// Whether the dial was retried after the process had run out of descriptors.
        var wasRetried = false
        /// The exchange that the dial is tied to: its task decides whether to trust the peer. Nil if the dial is tied to none.
        var claimant: ExchangeID?
        /// Whether that exchange needs a connection that has carried nothing before.
        var needsFresh = false
    }

    enum Event {
        /// A dial begins.
        case dial(lastWaiter: UInt64)
        /// The dial begins again, after the process had run out of descriptors.
        case retryDial
        /// The dial is tied to an exchange.
        case claim(ExchangeID, needsFresh: Bool)
        /// The dial has opened the connection, which can carry `capacity` exchanges at once; more than 1 means HTTP/2.
        /// `allowed` is the last stream limit that the peer announced on a multiplexed connection; nil if it announced none.
        case connected(capacity: Int32, allowed: Int32? = nil, loop: Int? = nil)
        /// The limit of concurrent exchanges has changed.
        case capacityChanged(Int32)
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
    /// The number of earlier connections that have used the slot.
    private(set) var generation: UInt32 = 0
    /// The index of the connection's key in `PoolMachine.keys`.
    private(set) var key = LinkTable.none
    /// The number of the loop that the connection runs on.
    private(set) var loop: Int?
    /// The time from which the connection is too old to be leased.
    private var retiresAt = Instant.distantFuture
    /// The limit of concurrent exchanges; 0 while the peer accepts no requests.
    private var capacity: Int32 = 1
    /// Whether the connection speaks HTTP/2 and so can carry several exchanges at once. Stays true if its peer temporarily allows
    /// fewer, and after the close until the slot is assigned again.
    private(set) var isMultiplexed = false
    /// Whether the peer accepts WebSockets besides other exchanges (RFC 8441).
    var acceptsWebSockets = false
    /// The keys of other origins whose exchanges the connection also carries.
    var coalescedKeys = LinkList()
    /// The number of further exchanges that the server accepts (`KeepAlive.maximum`); `Int.max` if the server has not limited it.
    private var remainingExchanges = Int.max
    /// Whether the connection has carried an exchange.
    private(set) var wasUsed = false
    /// The number of exchanges that have ended, if the connection is multiplexed.
    private(set) var endedExchanges: Int32 = 0

    var isIdle: Bool { if case .idle = state { true } else { false } }

    /// The exchange that the dial is tied to; nil if there is none.
    var claimant: ExchangeID? { if case .dialing(let dial) = state { dial.claimant } else { nil } }

    var isRetiring: Bool { if case .retiring = state { true } else { false } }

    /// Whether the connection can carry another exchange; its age is not checked.
    var isAvailable: Bool {
        switch state {
        case .idle: capacity > 0
        case .busy(let exchanges): exchanges < capacity && remainingExchanges > 0
        case .vacant, .dialing, .retiring: false
        }
    }

    /// Whether the connection must not be leased again, because of its age or idle time.
    func isExpired(at now: Instant) -> Bool {
        // An idle connection needs one comparison: `until` is never later than `retiresAt`.
        if case .idle(let until) = state { until <= now } else { retiresAt <= now }
    }

    /// Assigns the vacant slot to a key. It stays vacant until the event `dial`.
    mutating func assign(to key: Int32) {
        self.key = key
        loop = nil
        capacity = 1
        isMultiplexed = false
        acceptsWebSockets = false
        remainingExchanges = .max
        wasUsed = false
        endedExchanges = 0
        retiresAt = .distantFuture
    }

    /// Moves the connection to another key.
    mutating func move(to key: Int32) { self.key = key }

    /// Changes the state for an event, and returns the consequence for the pool. Only this function and the private functions
    /// that it calls change `state`.
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
        case (.idle, .capacityChanged(let capacity)), (.busy, .capacityChanged(let capacity)),
            (.retiring, .capacityChanged(let capacity)):
            self.capacity = max(0, capacity)
            return isAvailable ? .available : .none
        case (.idle, .lease):
            precondition(isAvailable, "a connection that takes nothing was lent")
            return lease(runningExchanges: 0)
        case (.busy(let exchanges), .lease):
            precondition(isAvailable, "a full connection was lent")
            return lease(runningExchanges: exchanges)
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
            (.vacant, .capacityChanged), (.dialing, .capacityChanged),
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

    /// Records that the dial has opened the connection, which can then be leased.
    private mutating func connected(
        _ capacity: Int32, allowed: Int32?, at now: Instant, limits: PoolLimits
    ) -> Effect {
        isMultiplexed = capacity > 1
        self.capacity = max(0, isMultiplexed ? min(capacity, allowed ?? capacity) : capacity)
        if let age = limits.maximumAge { retiresAt = now + age }
        state = .idle(until: min(now + limits.idleTimeout, retiresAt))
        return isAvailable ? .available : .none
    }

    /// Records the end of one of the `exchanges` that are running. The connection can carry others, within the limits of `hint`.
    private mutating func finish(
        oneOf exchanges: Int32, _ hint: KeepAlive, at now: Instant, limits: PoolLimits
    ) -> Effect {
        if isMultiplexed, endedExchanges < .max { endedExchanges += 1 }
        if let maximum = hint.maximum { remainingExchanges = max(0, maximum) }
        let mustRetire = remainingExchanges == 0 || retiresAt <= now
        if exchanges > 1 {
            state = mustRetire ? .retiring(exchanges: exchanges - 1) : .busy(exchanges: exchanges - 1)
            return isAvailable ? .available : .none
        }
        if mustRetire { return vacate() }
        let timeout = min(limits.idleTimeout, hint.safeTimeout ?? limits.idleTimeout)
        guard timeout > .zero else { return vacate() }
        state = .idle(until: min(now + timeout, retiresAt))
        return isAvailable ? .available : .none
    }

    /// Records one more exchange besides the `exchanges` that are running.
    private mutating func lease(runningExchanges exchanges: Int32) -> Effect {
        if remainingExchanges != .max { remainingExchanges -= 1 }
        wasUsed = true
        state = .busy(exchanges: exchanges + 1)
        return isAvailable ? .available : .none
    }

    /// Makes the slot vacant, and changes its generation, so that late events find no connection.
    private mutating func vacate() -> Effect {
        state = .vacant
        key = LinkTable.none
        generation &+= 1
        return .close
    }
}
