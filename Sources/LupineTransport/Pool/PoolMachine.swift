// SPDX-License-Identifier: MIT

/// Decides for each exchange whether it runs on an open connection, waits for one, or needs a dial; and which connections close.
///
/// A key is an origin that has connections or waiters. For each key, the connection that became idle last is leased first, so
/// that surplus connections expire; connections on the loop that an exchange prefers are leased before others. Waiters are served
/// by priority, and among equals in order of arrival. All state is stored in arrays whose elements are linked by index
/// (`LinkTable`), so that an event takes constant time and, once the arrays have grown, no allocation. The driver performs the
/// actions in order, and guards the machine with a lock or confines it to a loop. Pure: no I/O, no clock, no lock.
///
/// Invariants after each event:
/// - No exchange waits while a connection that may serve it could be leased.
/// - A key with more waiters than its dials can serve starts another dial, unless it is at its limit, or the total limit is
///   reached and the key is in the queue `starvedKeys`. While a key is in that queue, no connection is idle that could be closed
///   for it. If a connection may carry several exchanges, one dial serves several waiters for a while (`PoolMachine+Sharing`).
/// - Starved keys are served one after the other, with one dial each time. A connection of another key closes when it is next
///   idle, if the starved key has none, or at least two fewer than that key. The starved key dials in its place. A multiplexed
///   connection may never become idle. It is then retired: it accepts no further exchange (`mustRetireForOthers`).
/// - A retiring connection counts towards the total limit. For its key's limit (`perHost`), up to `perHost` retiring connections
///   are left out of the count. So a key has at most twice its limit.
/// - A key may use the connection of another key (`PoolMachine+Coalescing`). Its exchanges on that connection need no dial and
///   do not wait.
/// - Dials belong to no waiter: if a waiter is cancelled, the connection serves the next waiter or becomes idle. The exception is
///   a dial for which the program must decide whether to trust the peer. It is tied to one waiter: that exchange runs on the
///   connection, and fails if the dial fails; if it is cancelled, the dial is abandoned. The decision may move the connection to
///   another key, whose waiters it then serves.
package struct PoolMachine: ~Copyable {
    /// One origin that has connections or waiters. The functions name a key by its index in `keys`, and a connection by the index
    /// of its slot in `slots`.
    struct Key {
        /// The origin; nil if this element of `keys` is vacant.
        var origin: Origin?
        /// The number of slots of this key, dials included.
        var slotCount: Int32 = 0
        /// The number of current dials that are not tied to an exchange (`PoolEvent.claim`).
        var unclaimedDials: Int32 = 0
        /// The number of its retiring connections: multiplexed ones that are not leased again and still carry exchanges.
        var retiringCount: Int32 = 0
        /// Connections that can carry another exchange; the last is leased first.
        var available = LinkList()
        /// The exchanges that wait for a connection.
        var queue = WaitQueue()
        /// The peer's last limit of concurrent exchanges on a connection; nil if it has announced none.
        var announcedStreamLimit: Int32?
        /// How many exchanges a connection carried in total before its peer sent GOAWAY and rejected others. Nil if no peer has
        /// done that, or if a later connection has carried more.
        var exchangesBeforeGoAway: Int32?
        /// How many exchanges its next connection is expected to carry at once.
        var expectedCapacity = ExpectedCapacity.one
        /// The start of `sharingTime`: when the first of the current dials began, or a dial showed that the origin speaks HTTP/2.
        var dialsStart = Instant.zero
        /// The preferred loop of the newest waiter, where the next dial is made.
        var loop: Int?
        /// The connection to another origin that also carries this key's exchanges.
        var coalescedOnto: ConnectionID?
    }

    enum Phase { case running, shuttingDown }

    let limits: PoolLimits
    /// The enabled HTTP versions.
    private let versions: HTTPVersions
    var phase = Phase.running

    /// All keys; a vacant element has no origin.
    var keys: [Key] = []
    /// The index in `keys` for each origin.
    private var keyIndexes: [Origin: Int32] = [:]
    /// The keys used last, by the low bits of their origin's fingerprint; saves most look-ups in the dictionary. An entry is
    /// valid only while its key has the requested origin.
    private var recentKeys = [Int32](repeating: LinkTable.none, count: Self.recentKeyCount)
    /// The size of `recentKeys`: a power of two, so that `keyIndex(for:)` can mask the fingerprint.
    private static let recentKeyCount = 64
    /// Links the keys in `starvedKeys`, or in `vacantKeys`.
    var keyLinks = LinkTable()
    private var vacantKeys = LinkList()
    /// Keys that need a dial, which the limit of all connections does not allow.
    var starvedKeys = LinkList()
    /// Links the keys in `sharingKeys`. Empty if only HTTP/1.1 is enabled.
    var sharingLinks = LinkTable()
    /// The keys whose waiters share a dial.
    var sharingKeys = LinkList()
    /// Origins that chose HTTP/1.1 last, although they could have chosen HTTP/2.
    var http11Origins = OriginMemory()
    /// Links the keys that are coalesced onto a connection of another key. Empty if only HTTP/1.1 is enabled.
    var coalescedLinks = LinkTable()
    /// Origins for which another origin's server has answered 421.
    var misdirectedOrigins = OriginMemory()

    /// The connections and dials of all keys, and vacant slots.
    var slots: [ConnectionSlot] = []
    /// Links the slots in their key's `available`, or in `vacantSlots`.
    var slotLinks = LinkTable()
    var vacantSlots = LinkList()
    /// Links the slots in `idleSlots`.
    var idleLinks = LinkTable()
    /// The idle connections of all keys, longest idle first.
    var idleSlots = LinkList()
    /// The number of slots of all keys: connections and dials.
    var usedSlotCount: Int32 = 0
    /// The number of retiring connections of all keys.
    private(set) var retiringCount: Int32 = 0
    /// The number of exchanges that have ended while enough connections were retiring, since `mustRetireForOthers` last retired
    /// one for a starved key.
    var endsSinceRetirement = 0

    /// The waiters of all keys.
    var waiters = WaiterSlab()
    /// The time for which the pool last requested a `tick`; nil if none is pending.
    var requestedTick: Instant?

    /// The shortest time between two checks of all idle connections, and so the longest delay in closing an expired one. An
    /// expired connection is never leased.
    static let sweepGranularity = Interval.milliseconds(100)

    /// Creates an empty pool whose connections speak one of `versions`.
    package init(limits: PoolLimits = PoolLimits(), versions: HTTPVersions = .http11) {
        self.limits = limits
        self.versions = versions
    }

    /// The number of connections that are open or being dialled.
    package var openCount: Int { Int(usedSlotCount) }
    /// The number of connections that carry no exchange.
    package var idleCount: Int { Int(idleSlots.count) }
    /// Whether one of the current dials will serve this waiter, because few enough others are ahead of it.
    func isDialed(for waiter: WaiterID) -> Bool {
        guard let key = waiters.key(of: waiter) else { return false }
        let record = keys[Int(key)]
        return waiters.isAmongFirst(Int32(clamping: waitersServedByDials(of: key)), waiter, of: record.queue)
    }
    /// The priority of a waiter; nil once it has been served.
    func priority(of waiter: WaiterID) -> Float? { waiters.priority(of: waiter) }
    /// The number of keys that have a connection or a waiter, or are coalesced onto a connection.
    package var keyCount: Int { keyIndexes.count }

    /// Handles an event, and appends the actions that follow from it to `actions`. No other function of the machine is an entry
    /// point. The driver reuses one array for the actions and keeps its capacity.
    package mutating func handle(_ event: PoolEvent, at now: Instant, into actions: inout [PoolAction]) {
        switch event {
        case .submit(let exchange, let origin, let needsFresh, let priority, let replays, let loop):
            submit(
                exchange, to: origin, needsFresh: needsFresh, WaitQueue.Rank(priority, replays: replays),
                loop: loop, at: now, into: &actions)
        case .submitWebSocket(let exchange, let origin):
            submitWebSocket(exchange, to: origin, at: now, into: &actions)
        case .acceptsWebSockets(let connection):
            if let index = index(of: connection) { slots[Int(index)].acceptsWebSockets = true }
        case .coalesce(let dial, let connection):
            coalesce(dial, onto: connection, at: now, into: &actions)
        case .misdirected(let origin):
            misdirected(origin, at: now, into: &actions)
        case .reprioritise(let waiter, let priority):
            guard let key = waiters.key(of: waiter) else { return }
            waiters.setPriority(priority, of: waiter, in: &keys[Int(key)].queue)
        case .cancel(let waiter):
            guard let key = waiters.key(of: waiter) else { return }
            let exchange = waiters.remove(waiter, from: &keys[Int(key)].queue)
            actions.append(.fail(exchange, .cancelled))
            rebalance(key, at: now, into: &actions)
        case .connected(let connection, let capacity, let newKey, let loop):
            connected(connection, Int32(clamping: capacity), newKey, loop, at: now, into: &actions)
        case .claim(let connection):
            claim(connection, at: now, into: &actions)
        case .cancelClaim(let connection):
            guard let index = index(of: connection), let claimant = slots[Int(index)].claimant else { return }
            actions.append(.fail(claimant, .cancelled))
            abandonDial(index, at: now, into: &actions)
        case .dialFailed(let connection):
            dialFailed(connection, .dialFailed, at: now, into: &actions)
        case .descriptorsExhausted(let connection):
            descriptorsExhausted(connection, at: now, into: &actions)
        case .finished(let connection, let reuse):
            finished(connection, reuse, at: now, into: &actions)
        case .retire(let connection, let carried):
            guard let index = index(of: connection) else { return }
            if let carried {
                // At least 1: with 0, no exchange could ever run again.
                keys[Int(slots[Int(index)].key)].exchangesBeforeGoAway = Int32(clamping: max(1, carried))
            }
            retire(index, .notReusable, at: now, into: &actions)
        case .capacityChanged(let connection, let capacity):
            capacityChanged(connection, Int32(clamping: capacity), at: now, into: &actions)
        case .lost(let connection):
            lost(connection, at: now, into: &actions)
        case .tick:
            sweep(at: now, into: &actions)
        case .dropIdle:
            closeAllIdle(.unwanted, at: now, into: &actions)
        case .shutDown:
            shutDown(at: now, into: &actions)
        }
        if !starvedKeys.isEmpty { dialForStarved(at: now, into: &actions) }
    }

    // MARK: Exchanges

    /// Leases an available connection to an exchange, or enqueues the exchange.
    private mutating func submit(
        _ exchange: ExchangeID, to origin: Origin, needsFresh: Bool, _ rank: WaitQueue.Rank, loop: Int?,
        at now: Instant, into actions: inout [PoolAction]
    ) {
        guard phase == .running else {
            actions.append(.fail(exchange, .shutDown))
            return
        }
        let key = keyIndex(for: origin)
        if !needsFresh {
            while !keys[Int(key)].available.isEmpty {
                // Preferably a connection that runs on `loop`.
                let index = nearest(to: loop, of: key)
                if slots[Int(index)].isExpired(at: now) {
                    // `rebalance` is not called here: this function leases another connection, or calls `rebalance` itself.
                    retire(index, .expired, rebalancing: false, at: now, into: &actions)
                } else {
                    lease(index, of: key, to: exchange, at: now, into: &actions)
                    return
                }
            }
            if let shared = coalescedConnection(of: key, at: now) {
                lease(shared, of: slots[Int(shared)].key, to: exchange, at: now, into: &actions)
                return
            }
        }
        let waiter = waiters.enqueue(
            exchange, key: key, subqueue: needsFresh ? .fresh : .any, rank, into: &keys[Int(key)].queue)
        keys[Int(key)].loop = loop
        actions.append(.wait(exchange, as: waiter))
        rebalance(key, at: now, into: &actions)
    }

    /// Leases an available connection. Removes it from `idleSlots`, and from `available` if it can carry no further exchange.
    mutating func lease(
        _ index: Int32, of key: Int32, to exchange: ExchangeID, at now: Instant,
        into actions: inout [PoolAction]
    ) {
        let wasUsed = slots[Int(index)].wasUsed
        if idleLinks.isLinked(index) { idleLinks.remove(index, from: &idleSlots) }
        let effect = slots[Int(index)].handle(.lease, at: now, limits: limits)
        if effect != .available, slotLinks.isLinked(index) {
            slotLinks.remove(index, from: &keys[Int(key)].available)
        }
        actions.append(.run(exchange, on: id(of: index), reused: wasUsed))
    }

    /// Handles the end of an exchange: leases its connection to a waiter, lists it as available, or closes it.
    private mutating func finished(
        _ connection: ConnectionID, _ reuse: PoolEvent.Reuse, at now: Instant,
        into actions: inout [PoolAction]
    ) {
        guard let index = index(of: connection) else { return }
        let key = slots[Int(index)].key
        let wasRetiring = slots[Int(index)].isRetiring
        let effect = slots[Int(index)].handle(.finished(reuse), at: now, limits: limits)
        let mayLiftLimit =
            keys[Int(key)].exchangesBeforeGoAway != nil && !wasRetiring && reuse != .notReusable
        let finalEffect = mayLiftLimit ? liftGoAwayLimit(index, of: key, effect, at: now) : effect
        switch finalEffect {
        case .none:
            if slots[Int(index)].isRetiring, !wasRetiring { countRetiring(index, of: key) }
            updateLists(index, of: key, into: &actions)
        case .close:
            if slotLinks.isLinked(index) { slotLinks.remove(index, from: &keys[Int(key)].available) }
            freeSlot(index, of: key, wasRetiring: wasRetiring)
            let wasUnusable = reuse == .notReusable || wasRetiring
            actions.append(.close(connection, wasUnusable ? .notReusable : .expired))
        case .available:
            // Both functions may change the machine and return false. `mustYieldToStarved` then moves a starved key to the end,
            // so that the next call considers another key. `mustRetireForOthers` counts the call (`endsSinceRetirement`).
            let mustClose: Bool
            if slots[Int(index)].isIdle {
                mustClose = !starvedKeys.isEmpty && mustYieldToStarved(key)
            } else {
                mustClose = mustRetireForOthers(key)
            }
            if mustClose {
                retire(index, .madeRoom, rebalancing: false, at: now, into: &actions)
            } else {
                let hasNoWaiters = keys[Int(key)].queue.isEmpty
                // After an exchange, the connection does not serve waiters that need a fresh one.
                serve(index, of: key, after: .exchange, at: now, into: &actions)
                // Most exchanges end here: nothing that `rebalance` examines has changed.
                if hasNoWaiters, starvedKeys.isEmpty { return }
            }
        }
        rebalance(key, at: now, into: &actions)
    }

    /// Handles a new limit of concurrent exchanges on a multiplexed connection.
    private mutating func capacityChanged(
        _ connection: ConnectionID, _ capacity: Int32, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard let index = index(of: connection) else { return }
        let key = slots[Int(index)].key
        // The next connection of the key is expected to have the same limit.
        keys[Int(key)].announcedStreamLimit = capacity
        // A connection that has carried nothing may serve waiters that need a fresh one.
        let wasUsed = slots[Int(index)].wasUsed
        let room = min(capacity, keys[Int(key)].exchangesBeforeGoAway ?? capacity)
        let effect = slots[Int(index)].handle(.capacityChanged(room), at: now, limits: limits)
        if effect == .available {
            serve(index, of: key, after: wasUsed ? .exchange : .dial, at: now, into: &actions)
        } else {
            updateLists(index, of: key, into: &actions)
        }
        rebalance(key, at: now, into: &actions)
    }

    /// Lifts the limit that an earlier GOAWAY set for the key (`exchangesBeforeGoAway`) if this connection has carried more
    /// exchanges than that. Returns `effect`, or the new effect if the connection may now carry more.
    ///
    /// Some peers close each connection after a few exchanges. The key's connections then carry at most as many at once as the
    /// closed one carried in total, because the peer would reject the others.
    private mutating func liftGoAwayLimit(
        _ index: Int32, of key: Int32, _ effect: ConnectionSlot.Effect, at now: Instant
    ) -> ConnectionSlot.Effect {
        guard slots[Int(index)].isMultiplexed, let carried = keys[Int(key)].exchangesBeforeGoAway,
            slots[Int(index)].endedExchanges > carried
        else { return effect }
        keys[Int(key)].exchangesBeforeGoAway = nil
        if effect == .close { return effect }
        let allowed = keys[Int(key)].announcedStreamLimit ?? Self.assumedCapacity
        return slots[Int(index)].handle(.capacityChanged(allowed), at: now, limits: limits)
    }

    /// The reason for which a connection can be leased: it was opened, or one of its exchanges ended.
    enum Trigger { case dial, exchange }

    /// Leases a connection to waiters, or lists it as available. If it then stays idle while other keys are starved,
    /// `dialForStarved` closes it within the same event.
    mutating func serve(
        _ index: Int32, of key: Int32, after trigger: Trigger, at now: Instant,
        into actions: inout [PoolAction]
    ) {
        while slots[Int(index)].isAvailable {
            let exchange: ExchangeID?
            switch trigger {
            case .dial:
                exchange =
                    waiters.popFirst(.fresh, of: &keys[Int(key)].queue)
                    ?? waiters.popFirst(.any, of: &keys[Int(key)].queue)
            case .exchange:
                if slots[Int(index)].isIdle, mustYieldToFresh(key) {
                    retire(index, .madeRoom, rebalancing: false, at: now, into: &actions)
                    return
                }
                exchange = waiters.popFirst(.any, of: &keys[Int(key)].queue)
            }
            guard let exchange else { break }
            lease(index, of: key, to: exchange, at: now, into: &actions)
        }
        updateLists(index, of: key, into: &actions)
    }

    /// Adds a connection to the lists `available` and `idleSlots`, or removes it from them, according to its state.
    private mutating func updateLists(_ index: Int32, of key: Int32, into actions: inout [PoolAction]) {
        let isListed = slotLinks.isLinked(index)
        if slots[Int(index)].isAvailable {
            if !isListed { slotLinks.append(index, to: &keys[Int(key)].available) }
        } else if isListed {
            slotLinks.remove(index, from: &keys[Int(key)].available)
        }
        if case .idle(let until) = slots[Int(index)].state, !idleLinks.isLinked(index) {
            idleLinks.append(index, to: &idleSlots)
            requestTick(at: until, into: &actions)
        }
    }

    // MARK: Slabs

    /// Returns the key of an origin; creates it if there is none.
    mutating func keyIndex(for origin: Origin) -> Int32 {
        let recentIndex = origin.fingerprint & (Self.recentKeyCount - 1)
        let recent = recentKeys[recentIndex]
        if recent != LinkTable.none, keys[Int(recent)].origin == origin { return recent }
        let index = listedKeyIndex(for: origin)
        recentKeys[recentIndex] = index
        return index
    }

    /// Returns the key of an origin from `keyIndexes`; creates it if there is none.
    private mutating func listedKeyIndex(for origin: Origin) -> Int32 {
        if let known = keyIndexes[origin] { return known }
        let index: Int32
        if let vacant = keyLinks.popFirst(of: &vacantKeys) {
            index = vacant
        } else {
            index = Int32(keys.count)
            keys.append(Key())
            keyLinks.grow()
            if mayShareDials {
                sharingLinks.grow()
                coalescedLinks.grow()
            }
        }
        keys[Int(index)] = Key(
            origin: origin,
            expectedCapacity: maySpeakHTTP2(origin) && !http11Origins.contains(origin) ? .several : .one)
        keyIndexes[origin] = index
        return index
    }

    /// Returns the key of an origin, if there is one.
    func knownKey(of origin: Origin) -> Int32? { keyIndexes[origin] }

    /// Returns the slot of a connection; nil if the connection has ended.
    func index(of connection: ConnectionID) -> Int32? {
        guard Int(connection.index) < slots.count,
            slots[Int(connection.index)].generation == connection.generation
        else { return nil }
        return connection.index
    }

    /// Returns the ID of the connection in a slot.
    func id(of index: Int32) -> ConnectionID {
        ConnectionID(index: index, generation: slots[Int(index)].generation)
    }

    /// Frees the slot of a connection that has ended. `wasRetiring` says whether the connection was retired before it ended, and
    /// `countRetiring` has counted it.
    mutating func freeSlot(_ index: Int32, of key: Int32, wasRetiring: Bool = false) {
        keys[Int(key)].slotCount -= 1
        usedSlotCount -= 1
        if wasRetiring, slots[Int(index)].isMultiplexed {
            keys[Int(key)].retiringCount -= 1
            retiringCount -= 1
        }
        slotLinks.append(index, to: &vacantSlots)
        if !slots[Int(index)].coalescedKeys.isEmpty { detachCoalescedKeys(of: index) }
    }

    /// Removes a key that has no slot, no waiter and no coalesced connection.
    mutating func removeIfUnused(_ key: Int32) {
        guard keys[Int(key)].slotCount == 0, keys[Int(key)].queue.isEmpty,
            keys[Int(key)].coalescedOnto == nil, let origin = keys[Int(key)].origin
        else { return }
        keyIndexes[origin] = nil
        keys[Int(key)].origin = nil
        keyLinks.append(key, to: &vacantKeys)
    }

    /// Counts a multiplexed connection that is not leased again and still carries exchanges.
    mutating func countRetiring(_ index: Int32, of key: Int32) {
        guard slots[Int(index)].isMultiplexed else { return }
        keys[Int(key)].retiringCount += 1
        retiringCount += 1
    }

    /// Whether connections to the origin may be multiplexed.
    func maySpeakHTTP2(_ origin: Origin) -> Bool { versions.mayNegotiateHTTP2(with: origin) }

    /// Whether any connection may be multiplexed.
    var mayShareDials: Bool { versions.contains(.http2) }
}
