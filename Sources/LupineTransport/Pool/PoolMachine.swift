// SPDX-License-Identifier: MIT

/// Decides which exchange runs on which connection: run, dial, wait, close.
///
/// Per key, idle connections are lent last in, first out, so that surplus ones grow old and close, those of the loop that an exchange
/// asks for before others; waiters are served by priority, and first come, first served among equals. Everything the pool holds lies in slabs threaded by intrusive lists, so that an event
/// costs a constant amount of work and, once the slabs are warm, no allocation. It is no pool by itself: its driver
/// performs the actions, in order, and owns lock or loop. Pure: no I/O, no clock, no lock.
///
/// What holds after each event:
/// - No waiter waits while a connection that may serve it could be lent.
/// - A key with more waiters than dials under way has a dial under way for each, or has met its limit, or the total
///   limit is met and the key stands in the queue for room. While a key stands there, nothing lies idle anywhere.
/// - Room goes round the keys that stand for it, one dial at a time. A key with nothing open, or with at least two
///   connections fewer than another, gets the other's connection when that is next returned.
/// - Dials belong to no waiter: a cancelled waiter's dial serves the next one or becomes idle. Only a dial that has to ask
///   about its peer is tied to one, which runs on it, fails with it, and takes it along when it is cancelled. Who answered
///   may make it another key's, whose waiters it serves from then on.
package struct PoolMachine: ~Copyable {
    struct Key {
        var origin: Origin?
        /// Slots of this key, dials included.
        var open: Int32 = 0
        var dials: Int32 = 0
        /// Connections that can carry another exchange; the last is lent first.
        var available = LinkList()
        var queue = WaitQueue()
        /// How many exchanges the peer has last said that it takes at once on a connection; nil where it has said nothing.
        var allowed: Int32?
        /// Which loop the waiter that came last had best run on: there the next dial is made.
        var loop: Int?
    }

    private enum Phase { case running, shuttingDown }

    private let limits: PoolLimits
    private var phase = Phase.running

    private(set) var keys: [Key] = []
    private var keyIndexes: [Origin: Int32] = [:]
    /// Keys last asked for, by the low bits of their origin's fingerprint: spares most look-ups their hashing. An
    /// entry is believed only while its key has the origin asked for.
    private var recentKeys = [Int32](repeating: LinkTable.none, count: Self.recentKeyCount)
    private static let recentKeyCount = 64
    private var keyLinks = LinkTable()
    private var vacantKeys = LinkList()
    /// Keys that want a dial and have no room under the total limit.
    private var starved = LinkList()

    private(set) var slots: [ConnectionSlot] = []
    /// Threads the slots into their key's `available`, or into `vacantSlots`.
    private(set) var slotLinks = LinkTable()
    private var vacantSlots = LinkList()
    /// Threads the idle slots of all keys, longest idle first.
    private var idleLinks = LinkTable()
    private var idle = LinkList()
    private var open: Int32 = 0

    private(set) var waiters = WaiterSlab()
    private var wake: Instant?

    /// The least time between two sweeps of idle connections: an idle connection is closed at most so much late. It
    /// is never lent late.
    static let sweepGranularity = Interval.milliseconds(100)

    /// An empty pool.
    package init(limits: PoolLimits = PoolLimits()) { self.limits = limits }

    /// Connections open or being dialled.
    package var openCount: Int { Int(open) }
    /// Connections that carry nothing.
    package var idleCount: Int { Int(idle.count) }
    /// Whether one of the dials under way is for this waiter, rather than for somebody ahead of it.
    func isDialed(for waiter: WaiterID) -> Bool {
        guard let key = waiters.key(of: waiter) else { return false }
        let record = keys[Int(key)]
        return waiters.isAmongFirst(record.dials, waiter, of: record.queue)
    }
    /// The priority that a waiter waits with, unless it has been answered.
    func priority(of waiter: WaiterID) -> Float? { waiters.priority(of: waiter) }
    /// Keys that have a connection or a waiter.
    package var keyCount: Int { keyIndexes.count }

    /// The only way in: appends to `actions` what follows from `event`. The driver keeps one array and empties it
    /// with its capacity kept.
    package mutating func handle(_ event: PoolEvent, at now: Instant, into actions: inout [PoolAction]) {
        switch event {
        case .submit(let exchange, let origin, let needsFresh, let priority, let loop):
            submit(
                exchange, to: origin, needsFresh: needsFresh, priority: priority, loop: loop, at: now,
                into: &actions)
        case .reprioritise(let waiter, let priority):
            guard let key = waiters.key(of: waiter) else { return }
            waiters.setPriority(priority, of: waiter, in: &keys[Int(key)].queue)
        case .cancel(let waiter):
            guard let key = waiters.key(of: waiter) else { return }
            let exchange = waiters.remove(waiter, from: &keys[Int(key)].queue)
            actions.append(.fail(exchange, .cancelled))
            settle(key, at: now, into: &actions)
        case .connected(let connection, let capacity, let home, let loop):
            connected(connection, Int32(clamping: capacity), home, loop, at: now, into: &actions)
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
        case .retire(let connection):
            guard let index = index(of: connection) else { return }
            retire(index, .notReusable, at: now, into: &actions)
        case .capacity(let connection, let capacity):
            capacityChanged(connection, Int32(clamping: capacity), at: now, into: &actions)
        case .lost(let connection):
            guard let index = index(of: connection) else { return }
            let key = slots[Int(index)].key
            unlist(index, of: key)
            _ = slots[Int(index)].handle(.gone, at: now, limits: limits)
            forget(index, of: key)
            settle(key, at: now, into: &actions)
        case .tick:
            sweep(at: now, into: &actions)
        case .dropIdle:
            closeAllIdle(.unwanted, at: now, into: &actions)
        case .shutDown:
            shutDown(at: now, into: &actions)
        }
        if !starved.isEmpty { feedStarved(at: now, into: &actions) }
    }

    // MARK: Exchanges

    private mutating func submit(
        _ exchange: ExchangeID, to origin: Origin, needsFresh: Bool, priority: Float, loop: Int?,
        at now: Instant, into actions: inout [PoolAction]
    ) {
        guard phase == .running else {
            actions.append(.fail(exchange, .shutDown))
            return
        }
        let key = keyIndex(for: origin)
        if !needsFresh {
            while !keys[Int(key)].available.isEmpty {
                let index = nearest(to: loop, of: key)
                if slots[Int(index)].isExpired(at: now) {
                    retire(index, .expired, settling: false, at: now, into: &actions)
                } else {
                    lend(index, of: key, to: exchange, at: now, into: &actions)
                    return
                }
            }
        }
        let waiter = waiters.enqueue(
            exchange, key: key, lane: needsFresh ? .fresh : .any, priority: priority,
            into: &keys[Int(key)].queue)
        keys[Int(key)].loop = loop
        actions.append(.wait(exchange, as: waiter))
        settle(key, at: now, into: &actions)
    }

    /// Leases an available connection. It leaves its lists as far as its new state demands.
    private mutating func lend(
        _ index: Int32, of key: Int32, to exchange: ExchangeID, at now: Instant,
        into actions: inout [PoolAction]
    ) {
        let wasUsed = slots[Int(index)].wasUsed
        if idleLinks.isLinked(index) { idleLinks.remove(index, from: &idle) }
        let effect = slots[Int(index)].handle(.lease, at: now, limits: limits)
        if effect != .lends, slotLinks.isLinked(index) {
            slotLinks.remove(index, from: &keys[Int(key)].available)
        }
        actions.append(.run(exchange, on: name(of: index), reused: wasUsed))
    }

    private mutating func finished(
        _ connection: ConnectionID, _ reuse: PoolEvent.Reuse, at now: Instant,
        into actions: inout [PoolAction]
    ) {
        guard let index = index(of: connection) else { return }
        let key = slots[Int(index)].key
        let wasRetiring = slots[Int(index)].isRetiring
        switch slots[Int(index)].handle(.finished(reuse), at: now, limits: limits) {
        case .none:
            if slotLinks.isLinked(index) { slotLinks.remove(index, from: &keys[Int(key)].available) }
        case .close:
            if slotLinks.isLinked(index) { slotLinks.remove(index, from: &keys[Int(key)].available) }
            forget(index, of: key)
            actions.append(.close(connection, reuse == .notReusable || wasRetiring ? .notReusable : .expired))
        case .lends:
            if !starved.isEmpty, slots[Int(index)].isIdle, owesRoom(key) {
                retire(index, .madeRoom, settling: false, at: now, into: &actions)
            } else {
                let nobodyWaits = keys[Int(key)].queue.isEmpty
                serve(index, of: key, from: .exchange, at: now, into: &actions)
                // Nothing that `settle` looks at has changed: this is the way of most requests.
                if nobodyWaits, starved.isEmpty { return }
            }
        }
        settle(key, at: now, into: &actions)
    }

    private mutating func capacityChanged(
        _ connection: ConnectionID, _ capacity: Int32, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard let index = index(of: connection) else { return }
        let key = slots[Int(index)].key
        // The next connection begins with what is known of this one.
        keys[Int(key)].allowed = capacity
        let effect = slots[Int(index)].handle(.capacity(capacity), at: now, limits: limits)
        if slots[Int(index)].isIdle { return }
        if effect == .lends {
            serve(index, of: key, from: .exchange, at: now, into: &actions)
        } else if slotLinks.isLinked(index) {
            slotLinks.remove(index, from: &keys[Int(key)].available)
        }
        settle(key, at: now, into: &actions)
    }

    /// Where a connection that can be lent comes from.
    private enum Source { case dial, exchange }

    /// Gives a connection to whoever waits, or lists it as available. If it then lies idle while other keys are
    /// starved, `feedStarved` closes it before the event is over.
    private mutating func serve(
        _ index: Int32, of key: Int32, from source: Source, at now: Instant, into actions: inout [PoolAction]
    ) {
        while slots[Int(index)].lends {
            let exchange: ExchangeID?
            switch source {
            case .dial:
                exchange =
                    waiters.popFirst(.fresh, of: &keys[Int(key)].queue)
                    ?? waiters.popFirst(.any, of: &keys[Int(key)].queue)
            case .exchange:
                if slots[Int(index)].isIdle, mustYieldToFresh(key) {
                    retire(index, .madeRoom, settling: false, at: now, into: &actions)
                    return
                }
                exchange = waiters.popFirst(.any, of: &keys[Int(key)].queue)
            }
            guard let exchange else { break }
            lend(index, of: key, to: exchange, at: now, into: &actions)
        }
        guard slots[Int(index)].lends else { return }
        if !slotLinks.isLinked(index) { slotLinks.append(index, to: &keys[Int(key)].available) }
        if case .idle(let until) = slots[Int(index)].state {
            idleLinks.append(index, to: &idle)
            askForWake(at: until, into: &actions)
        }
    }

    /// True when the waiter that is due first wants a new connection, none is on its way for it, and there is no room
    /// to dial one: then a returned connection closes, or ordinary waiters would pass the fresh lane for ever.
    private func mustYieldToFresh(_ key: Int32) -> Bool {
        let record = keys[Int(key)]
        guard record.queue.count(in: .fresh) > record.dials else { return false }
        return (Int(record.open) >= limits.perHost || Int(open) >= limits.total)
            && waiters.isFreshForemost(in: record.queue)
    }

    // MARK: Dials

    private mutating func startDial(for key: Int32, at now: Instant, into actions: inout [PoolAction]) {
        guard let origin = keys[Int(key)].origin else { return }
        let index: Int32
        if let vacant = slotLinks.popFirst(of: &vacantSlots) {
            index = vacant
        } else {
            index = Int32(slots.count)
            slots.append(ConnectionSlot())
            slotLinks.grow()
            idleLinks.grow()
        }
        slots[Int(index)].assign(to: key)
        _ = slots[Int(index)].handle(.dial(lastWaiter: waiters.lastSequence), at: now, limits: limits)
        keys[Int(key)].open += 1
        keys[Int(key)].dials += 1
        open += 1
        actions.append(.dial(name(of: index), to: origin, loop: keys[Int(key)].loop))
    }

    private mutating func connected(
        _ connection: ConnectionID, _ capacity: Int32, _ home: Origin?, _ loop: Int?, at now: Instant,
        into actions: inout [PoolAction]
    ) {
        guard let index = index(of: connection) else {
            actions.append(.close(connection, .unwanted))
            return
        }
        let key = slots[Int(index)].key
        let claimant = slots[Int(index)].claimant
        let capacity = min(capacity, keys[Int(key)].allowed ?? capacity)
        _ = slots[Int(index)].handle(.connected(capacity: capacity, loop: loop), at: now, limits: limits)
        if let claimant {
            lend(index, of: key, to: claimant, at: now, into: &actions)
        } else {
            keys[Int(key)].dials -= 1
        }
        if let home, home != keys[Int(key)].origin {
            return move(index, from: key, to: home, at: now, into: &actions)
        }
        serve(index, of: key, from: .dial, at: now, into: &actions)
        settle(key, at: now, into: &actions)
    }

    /// Gives a connection that has just been opened to another key. Where that has no room for one more, it serves nobody
    /// after the exchange that it carries: whoever waits under its first key has no right to it.
    private mutating func move(
        _ index: Int32, from key: Int32, to home: Origin, at now: Instant, into actions: inout [PoolAction]
    ) {
        let other = keyIndex(for: home)
        if Int(keys[Int(other)].open) < limits.perHost {
            keys[Int(key)].open -= 1
            keys[Int(other)].open += 1
            slots[Int(index)].move(to: other)
            serve(index, of: other, from: .dial, at: now, into: &actions)
        } else {
            retire(index, .notReusable, settling: false, at: now, into: &actions)
        }
        settle(key, at: now, into: &actions)
        settle(other, at: now, into: &actions)
    }

    /// A failed dial answers the waiter that is due first, if more wait than dials remain. Where the key has
    /// not one connection, the origin is taken to be down, and the failure answers likewise those that were waiting
    /// when the dial began: a thousand waiters on a dead host fail after two rounds of dials, not after a thousand.
    private mutating func dialFailed(
        _ connection: ConnectionID, _ failure: PoolFailure, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard let index = index(of: connection), case .dialing(let dial) = slots[Int(index)].state else {
            return
        }
        let key = slots[Int(index)].key
        _ = slots[Int(index)].handle(.gone, at: now, limits: limits)
        if dial.claimant == nil { keys[Int(key)].dials -= 1 }
        forget(index, of: key)
        if let claimant = dial.claimant {
            // What its own answers came to says nothing about the others'.
            actions.append(.fail(claimant, failure))
            settle(key, at: now, into: &actions)
            return
        }
        var mayFailMore = true
        while mayFailMore, keys[Int(key)].queue.count > keys[Int(key)].dials,
            let exchange = waiters.popForemost(of: &keys[Int(key)].queue)
        {
            actions.append(.fail(exchange, failure))
            let record = keys[Int(key)]
            let oldest = min(
                waiters.sequence(ofFirst: .fresh, of: record.queue),
                waiters.sequence(ofFirst: .any, of: record.queue))
            mayFailMore = record.open == record.dials && oldest <= dial.lastWaiter
        }
        settle(key, at: now, into: &actions)
    }

    /// Ties a dial to the waiter that it would serve. It no longer counts for the others.
    private mutating func claim(
        _ connection: ConnectionID, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard let index = index(of: connection), case .dialing(let dial) = slots[Int(index)].state,
            dial.claimant == nil
        else { return }
        let key = slots[Int(index)].key
        let waiter =
            waiters.popFirst(.fresh, of: &keys[Int(key)].queue)
            ?? waiters.popFirst(.any, of: &keys[Int(key)].queue)
        guard let waiter else { return abandonDial(index, at: now, into: &actions) }
        _ = slots[Int(index)].handle(.claim(waiter), at: now, limits: limits)
        keys[Int(key)].dials -= 1
        settle(key, at: now, into: &actions)
    }

    /// The exchange that a dial is tied to.
    package func claimant(of connection: ConnectionID) -> ExchangeID? {
        index(of: connection).flatMap { slots[Int($0)].claimant }
    }

    private mutating func abandonDial(_ index: Int32, at now: Instant, into actions: inout [PoolAction]) {
        let key = slots[Int(index)].key
        actions.append(.abandonDial(name(of: index)))
        if slots[Int(index)].claimant == nil { keys[Int(key)].dials -= 1 }
        _ = slots[Int(index)].handle(.gone, at: now, limits: limits)
        forget(index, of: key)
        settle(key, at: now, into: &actions)
    }

    /// The idle connections of every key close and the dial is tried once more; where nothing lies idle, or the
    /// second try meets the same end, the dial has failed.
    private mutating func descriptorsExhausted(
        _ connection: ConnectionID, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard let index = index(of: connection), case .dialing(let dial) = slots[Int(index)].state else {
            return
        }
        guard !idle.isEmpty, !dial.isSecondTry, dial.claimant == nil,
            case let key = keys[Int(slots[Int(index)].key)], let origin = key.origin
        else {
            dialFailed(connection, .descriptorsExhausted, at: now, into: &actions)
            return
        }
        closeAllIdle(.descriptorsExhausted, at: now, into: &actions)
        _ = slots[Int(index)].handle(.retryDial, at: now, limits: limits)
        actions.append(.dial(connection, to: origin, loop: key.loop))
    }

    // MARK: Room

    private func wantsDial(_ key: Int32) -> Bool {
        keys[Int(key)].queue.count > keys[Int(key)].dials && Int(keys[Int(key)].open) < limits.perHost
    }

    /// Brings a key's place among the starved up to date and forgets a key that holds nothing.
    private mutating func settle(_ key: Int32, at now: Instant, into actions: inout [PoolAction]) {
        guard keys[Int(key)].origin != nil else { return }
        while keys[Int(key)].queue.count(in: .fresh) > keys[Int(key)].dials,
            Int(keys[Int(key)].open) >= limits.perHost, let index = idleConnection(of: key)
        {
            retire(index, .madeRoom, settling: false, at: now, into: &actions)
            startDial(for: key, at: now, into: &actions)
        }
        if wantsDial(key) {
            if !keyLinks.isLinked(key) { keyLinks.append(key, to: &starved) }
            return
        }
        if keyLinks.isLinked(key) { keyLinks.remove(key, from: &starved) }
        if keys[Int(key)].open == 0, keys[Int(key)].queue.isEmpty, let origin = keys[Int(key)].origin {
            keyIndexes[origin] = nil
            keys[Int(key)].origin = nil
            keyLinks.append(key, to: &vacantKeys)
        }
    }

    /// Dials for the starved keys in turn while there is room, or while an idle connection can make some.
    private mutating func feedStarved(at now: Instant, into actions: inout [PoolAction]) {
        while !starved.isEmpty {
            if Int(open) >= limits.total {
                guard !idle.isEmpty else { return }
                retire(idle.first, .madeRoom, at: now, into: &actions)
            }
            guard let key = keyLinks.popFirst(of: &starved) else { return }
            startDial(for: key, at: now, into: &actions)
            if wantsDial(key) { keyLinks.append(key, to: &starved) }
        }
    }

    /// True when a connection that has just come back to `key` is due to the first of the other starved keys. Each
    /// question moves the key it was about to the end of the queue, so that every starved key has its turn.
    private mutating func owesRoom(_ key: Int32) -> Bool {
        if starved.first == key, starved.count > 1 { rotateStarved() }
        let other = starved.first
        guard other != key, other != LinkTable.none else { return false }
        let theirs = keys[Int(other)].open
        let ours = keys[Int(key)].open
        if keys[Int(key)].queue.isEmpty || theirs == 0 || theirs + 1 < ours { return true }
        rotateStarved()
        return false
    }

    private mutating func rotateStarved() {
        if let first = keyLinks.popFirst(of: &starved) { keyLinks.append(first, to: &starved) }
    }

    private func idleConnection(of key: Int32) -> Int32? {
        var index = keys[Int(key)].available.first
        while index != LinkTable.none, !slots[Int(index)].isIdle { index = slotLinks.next(after: index) }
        return index == LinkTable.none ? nil : index
    }

    // MARK: Ends

    /// Closes an idle connection; takes a busy one off the market.
    private mutating func retire(
        _ index: Int32, _ reason: CloseReason, settling: Bool = true, at now: Instant,
        into actions: inout [PoolAction]
    ) {
        let connection = name(of: index)
        let key = slots[Int(index)].key
        unlist(index, of: key)
        if slots[Int(index)].handle(.retire, at: now, limits: limits) == .close {
            forget(index, of: key)
            actions.append(.close(connection, reason))
        }
        if settling { settle(key, at: now, into: &actions) }
    }

    private mutating func closeAllIdle(
        _ reason: CloseReason, at now: Instant, into actions: inout [PoolAction]
    ) {
        while !idle.isEmpty { retire(idle.first, reason, at: now, into: &actions) }
    }

    private mutating func sweep(at now: Instant, into actions: inout [PoolAction]) {
        wake = nil
        var earliest: Instant?
        var index = idle.first
        while index != LinkTable.none {
            let next = idleLinks.next(after: index)
            if slots[Int(index)].isExpired(at: now) {
                retire(index, .expired, at: now, into: &actions)
            } else if case .idle(let until) = slots[Int(index)].state {
                earliest = min(until, earliest ?? until)
            }
            index = next
        }
        if let earliest { askForWake(at: max(earliest, now + Self.sweepGranularity), into: &actions) }
    }

    private mutating func askForWake(at instant: Instant, into actions: inout [PoolAction]) {
        if let wake, wake <= instant { return }
        wake = instant
        actions.append(.wake(at: instant))
    }

    private mutating func shutDown(at now: Instant, into actions: inout [PoolAction]) {
        guard phase == .running else { return }
        phase = .shuttingDown
        for key in keys.indices {
            while let exchange = waiters.popForemost(of: &keys[key].queue) {
                actions.append(.fail(exchange, .shutDown))
            }
            settle(Int32(key), at: now, into: &actions)
        }
        for index in slots.indices.lazy.map({ Int32($0) }) {
            switch slots[Int(index)].state {
            case .vacant:
                continue
            case .dialing(let dial):
                if let claimant = dial.claimant { actions.append(.fail(claimant, .shutDown)) }
                abandonDial(index, at: now, into: &actions)
            case .idle, .busy, .retiring:
                retire(index, .unwanted, at: now, into: &actions)
            }
        }
    }

    // MARK: Slabs

    private mutating func keyIndex(for origin: Origin) -> Int32 {
        let line = origin.fingerprint & (Self.recentKeyCount - 1)
        let recent = recentKeys[line]
        if recent != LinkTable.none, keys[Int(recent)].origin == origin { return recent }
        let index = listedKeyIndex(for: origin)
        recentKeys[line] = index
        return index
    }

    private mutating func listedKeyIndex(for origin: Origin) -> Int32 {
        if let known = keyIndexes[origin] { return known }
        let index: Int32
        if let vacant = keyLinks.popFirst(of: &vacantKeys) {
            index = vacant
        } else {
            index = Int32(keys.count)
            keys.append(Key())
            keyLinks.grow()
        }
        keys[Int(index)] = Key(origin: origin)
        keyIndexes[origin] = index
        return index
    }

    private func index(of connection: ConnectionID) -> Int32? {
        guard Int(connection.index) < slots.count,
            slots[Int(connection.index)].generation == connection.generation
        else { return nil }
        return connection.index
    }

    private func name(of index: Int32) -> ConnectionID {
        ConnectionID(index: index, generation: slots[Int(index)].generation)
    }

    /// Takes a connection out of the lists of those that can be lent.
    private mutating func unlist(_ index: Int32, of key: Int32) {
        if idleLinks.isLinked(index) { idleLinks.remove(index, from: &idle) }
        if slotLinks.isLinked(index) { slotLinks.remove(index, from: &keys[Int(key)].available) }
    }

    /// Gives back the slot of a connection that has ended.
    private mutating func forget(_ index: Int32, of key: Int32) {
        keys[Int(key)].open -= 1
        open -= 1
        slotLinks.append(index, to: &vacantSlots)
    }
}
