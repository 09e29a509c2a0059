// SPDX-License-Identifier: MIT

/// Names one connection of a pool from the moment its dial begins until it is closed. Never reused: an event that
/// arrives late names nothing and is recognised as late.
package struct ConnectionID: Hashable, Sendable {
    let index: Int32
    let generation: UInt32

    init(index: Int32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

    /// A number that is unique in the pool, for logs and tables.
    package var rawValue: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: index)) }
}

/// The life of one connection as the pool sees it, from the start of its dial to its close.
///
/// Counts exchanges; which they are is the connection's affair. Pure: no clock, socket or lock.
struct ConnectionSlot {
    enum State: Hashable {
        case vacant  // → dialing
        case dialing(Dial)  // → idle, vacant
        case idle(until: Instant)  // → busy, vacant
        case busy(exchanges: Int32)  // → busy, idle, retiring, vacant
        case retiring(exchanges: Int32)  // → retiring, vacant; lends nothing
    }

    /// What a dial remembers.
    struct Dial: Hashable {
        /// The newest waiter of the pool when the dial began.
        var lastWaiter: UInt64
        /// It was tried again after descriptors had run out.
        var isSecondTry = false
        /// The exchange that answers for it, and waits for it alone.
        var claimant: ExchangeID?
        /// That exchange wants a connection that has carried nothing before.
        var needsFresh = false
    }

    enum Event {
        case dial(lastWaiter: UInt64)
        case retryDial
        case claim(ExchangeID, needsFresh: Bool)
        /// `allowed` is what the peer has last said of connections that carry several exchanges, if anything.
        case connected(capacity: Int32, allowed: Int32? = nil, loop: Int? = nil)
        case capacity(Int32)
        case lease
        case finished(PoolEvent.Reuse)
        case retire
        case gone
    }

    /// What the pool does with the connection next.
    enum Effect: Hashable {
        /// Nothing: it can carry no further exchange now.
        case none
        /// It can carry another exchange.
        case lends
        /// The descriptor is to be closed; the slot is vacant.
        case close
    }

    private(set) var state = State.vacant
    private(set) var generation: UInt32 = 0
    private(set) var key = LinkTable.none
    /// The loop that the connection lives on, as the driver numbers them.
    private(set) var loop: Int?
    /// The instant from which the connection is too old to be lent.
    private var retiresAt = Instant.distantFuture
    /// How many exchanges it carries at once. None where the peer takes no requests for now.
    private var capacity: Int32 = 1
    /// It carries several exchanges at once (HTTP/2), however many its peer allows at present.
    private(set) var isMultiplexed = false
    /// Its peer takes web sockets beside other exchanges (RFC 8441).
    var takesWebSockets = false
    /// Keys of other origins whose exchanges it carries, too.
    var guests = LinkList()
    /// How many more exchanges the server accepts.
    private var remaining = Int.max
    /// It has carried an exchange.
    private(set) var wasUsed = false
    /// How many exchanges have ended on it, where it carries several.
    private(set) var ended: Int32 = 0

    var isIdle: Bool { if case .idle = state { true } else { false } }

    /// The exchange that is tied to the dial.
    var claimant: ExchangeID? { if case .dialing(let dial) = state { dial.claimant } else { nil } }

    var isRetiring: Bool { if case .retiring = state { true } else { false } }

    /// True when a lease would be granted, the connection's age aside.
    var lends: Bool {
        switch state {
        case .idle: capacity > 0
        case .busy(let exchanges): exchanges < capacity && remaining > 0
        case .vacant, .dialing, .retiring: false
        }
    }

    /// True when the connection may no longer be lent because of its age or idleness.
    func isExpired(at now: Instant) -> Bool {
        if case .idle(let until) = state { until <= now } else { retiresAt <= now }
    }

    /// Gives the slot to a key. The slot is vacant.
    mutating func assign(to key: Int32) {
        self.key = key
        loop = nil
        capacity = 1
        isMultiplexed = false
        takesWebSockets = false
        remaining = .max
        wasUsed = false
        ended = 0
        retiresAt = .distantFuture
    }

    /// Gives the connection to another key.
    mutating func move(to key: Int32) { self.key = key }

    /// The only writer of `state`.
    mutating func handle(_ event: Event, at now: Instant, limits: PoolLimits) -> Effect {
        switch (state, event) {
        case (.vacant, .dial(let lastWaiter)):
            state = .dialing(Dial(lastWaiter: lastWaiter))
            return .none
        case (.dialing(var dial), .retryDial):
            dial.isSecondTry = true
            state = .dialing(dial)
            return .none
        case (.dialing(var dial), .claim(let exchange, let needsFresh)):
            precondition(dial.claimant == nil, "a dial was claimed twice")
            dial.claimant = exchange
            dial.needsFresh = needsFresh
            state = .dialing(dial)
            return .none
        case (.dialing, .connected(let capacity, let allowed, let loop)):
            isMultiplexed = capacity > 1
            self.capacity = max(0, isMultiplexed ? min(capacity, allowed ?? capacity) : capacity)
            self.loop = loop
            if let age = limits.maximumAge { retiresAt = now + age }
            state = .idle(until: min(now + limits.idleTimeout, retiresAt))
            return lends ? .lends : .none
        case (.idle, .capacity(let capacity)), (.busy, .capacity(let capacity)),
            (.retiring, .capacity(let capacity)):
            self.capacity = max(0, capacity)
            return lends ? .lends : .none
        case (.idle, .lease):
            precondition(lends, "a connection that takes nothing was lent")
            return lease(after: 0)
        case (.busy(let exchanges), .lease):
            precondition(lends, "a full connection was lent")
            return lease(after: exchanges)
        case (.busy(let exchanges), .finished(.reusable(let hint))):
            if isMultiplexed, ended < .max { ended += 1 }
            if let maximum = hint.maximum { remaining = max(0, maximum) }
            let isSpent = remaining == 0 || retiresAt <= now
            if exchanges > 1 {
                state = isSpent ? .retiring(exchanges: exchanges - 1) : .busy(exchanges: exchanges - 1)
                return lends ? .lends : .none
            }
            if isSpent { return vacate() }
            let timeout = min(limits.idleTimeout, hint.safeTimeout ?? limits.idleTimeout)
            guard timeout > .zero else { return vacate() }
            state = .idle(until: min(now + timeout, retiresAt))
            return lends ? .lends : .none
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

    private mutating func lease(after exchanges: Int32) -> Effect {
        if remaining != .max { remaining -= 1 }
        wasUsed = true
        state = .busy(exchanges: exchanges + 1)
        return lends ? .lends : .none
    }

    private mutating func vacate() -> Effect {
        state = .vacant
        key = LinkTable.none
        generation &+= 1
        return .close
    }
}
