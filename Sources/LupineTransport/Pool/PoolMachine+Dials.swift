// SPDX-License-Identifier: MIT

/// The start and the outcomes of dials. A dial opens a connection for the waiters of one key (an origin).
extension PoolMachine {
    /// Assigns a slot to the key and appends the action that dials.
    mutating func startDial(for key: Int32, at now: Instant, into actions: inout [PoolAction]) {
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
        // The result is always `none`: a dial carries no exchange yet.
        _ = slots[Int(index)].handle(.dial(lastWaiter: waiters.lastSequence), at: now, limits: limits)
        if keys[Int(key)].unclaimedDials == 0 { keys[Int(key)].dialsStart = now }
        keys[Int(key)].slotCount += 1
        keys[Int(key)].unclaimedDials += 1
        usedSlotCount += 1
        actions.append(.dial(id(of: index), to: origin, loop: keys[Int(key)].loop))
    }

    /// Handles a dial that has opened its connection: leases the connection to the exchange that the dial is tied to, then to
    /// other waiters.
    mutating func connected(
        _ connection: ConnectionID, _ capacity: Int32, _ newKey: Origin?, _ loop: Int?, at now: Instant,
        into actions: inout [PoolAction]
    ) {
        guard let index = index(of: connection) else {
            actions.append(.close(connection, .unwanted))
            return
        }
        let key = slots[Int(index)].key
        let claimant = slots[Int(index)].claimant
        // At least one exchange runs on the connection, even if the peer last announced a limit of 0. If the peer still accepts
        // none, it refuses the stream: the exchange is then sent again or fails, and does not wait for ever.
        let allowed = expectedStreamLimit(of: key).map { max(1, $0) }
        // The result is not needed: `serve` and `lease` check whether the connection is available.
        _ = slots[Int(index)]
            .handle(.connected(capacity: capacity, allowed: allowed, loop: loop), at: now, limits: limits)
        if let claimant {
            lease(index, of: key, to: claimant, at: now, into: &actions)
        } else {
            keys[Int(key)].unclaimedDials -= 1
        }
        if let newKey, newKey != keys[Int(key)].origin {
            return move(index, from: key, to: newKey, at: now, into: &actions)
        }
        updateExpectation(from: index, of: key, wasClaimed: claimant != nil, at: now)
        // After a dial, the connection also serves waiters that need a fresh one.
        serve(index, of: key, after: .dial, at: now, into: &actions)
        rebalance(key, at: now, into: &actions)
    }

    /// Moves a connection that has just been opened to another key, because the program's decision about the peer has changed its
    /// TLS profile. If that key is at its limit, the connection closes after the exchange that it carries, because the waiters of
    /// its first key must not use it.
    private mutating func move(
        _ index: Int32, from key: Int32, to newKey: Origin, at now: Instant, into actions: inout [PoolAction]
    ) {
        let other = keyIndex(for: newKey)
        updateExpectation(from: index, of: other, wasClaimed: true, at: now)
        if countedConnections(of: other) < limits.perHost {
            keys[Int(key)].slotCount -= 1
            keys[Int(other)].slotCount += 1
            slots[Int(index)].move(to: other)
            serve(index, of: other, after: .dial, at: now, into: &actions)
        } else {
            retire(index, .notReusable, rebalancing: false, at: now, into: &actions)
        }
        rebalance(key, at: now, into: &actions)
        rebalance(other, at: now, into: &actions)
    }

    /// Handles a failed dial: fails the first waiter, if more wait than the remaining dials can serve. If the key has no open
    /// connection, the origin is assumed to be down, and all waiters that waited when the dial began fail as well. So a thousand
    /// waiters for a dead host fail after two rounds of dials, not after a thousand.
    mutating func dialFailed(
        _ connection: ConnectionID, _ failure: PoolFailure, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard let index = index(of: connection), case .dialing(let dial) = slots[Int(index)].state else {
            return
        }
        let key = slots[Int(index)].key
        // The result is always `close`. The failed dial has closed its descriptor itself.
        _ = slots[Int(index)].handle(.gone, at: now, limits: limits)
        if dial.claimant == nil { keys[Int(key)].unclaimedDials -= 1 }
        freeSlot(index, of: key)
        if let claimant = dial.claimant {
            // The dial may have failed because of the program's decision about the peer. That concerns only this exchange, so no
            // other waiter fails.
            actions.append(.fail(claimant, failure))
            rebalance(key, at: now, into: &actions)
            return
        }
        let servedCount = waitersServedByDials(of: key)
        // From now on each waiter gets its own dial: a shared dial may fail too.
        keys[Int(key)].expectedCapacity = .one
        var mayFailMore = true
        while mayFailMore, Int(keys[Int(key)].queue.count) > servedCount,
            let exchange = waiters.popForemost(of: &keys[Int(key)].queue)
        {
            actions.append(.fail(exchange, failure))
            let record = keys[Int(key)]
            let oldest = min(
                waiters.sequence(ofFirst: .fresh, of: record.queue),
                waiters.sequence(ofFirst: .any, of: record.queue))
            // The first condition says that all slots of the key are dials, so no connection is open.
            mayFailMore = record.slotCount == record.unclaimedDials && oldest <= dial.lastWaiter
        }
        rebalance(key, at: now, into: &actions)
    }

    /// Ties a dial to the waiter that it would serve next. Other waiters get dials of their own, because the program may take
    /// long to decide about the peer.
    mutating func claim(
        _ connection: ConnectionID, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard let index = index(of: connection), case .dialing(let dial) = slots[Int(index)].state,
            dial.claimant == nil
        else { return }
        let key = slots[Int(index)].key
        let fresh = waiters.popFirst(.fresh, of: &keys[Int(key)].queue)
        guard let waiter = fresh ?? waiters.popFirst(.any, of: &keys[Int(key)].queue) else {
            return abandonDial(index, at: now, into: &actions)
        }
        // The result is always `none`: the dial goes on.
        _ = slots[Int(index)].handle(.claim(waiter, needsFresh: fresh != nil), at: now, limits: limits)
        keys[Int(key)].unclaimedDials -= 1
        // Each waiter that shared this dial gets its own, which may need a decision of the program too.
        keys[Int(key)].expectedCapacity = .one
        rebalance(key, at: now, into: &actions)
    }

    /// Returns the exchange that a dial is tied to; nil if it is tied to none, or has ended.
    package func claimant(of connection: ConnectionID) -> ExchangeID? {
        index(of: connection).flatMap { slots[Int($0)].claimant }
    }

    /// Frees the slot of a dial and appends the action that abandons it.
    mutating func abandonDial(_ index: Int32, at now: Instant, into actions: inout [PoolAction]) {
        let key = slots[Int(index)].key
        actions.append(.abandonDial(id(of: index)))
        if slots[Int(index)].claimant == nil { keys[Int(key)].unclaimedDials -= 1 }
        // The result is always `close`, which the action `abandonDial` includes.
        _ = slots[Int(index)].handle(.gone, at: now, limits: limits)
        freeSlot(index, of: key)
        rebalance(key, at: now, into: &actions)
    }

    /// Closes the idle connections of all keys and retries the dial. The dial fails if no connection is idle, if the dial has
    /// been retried already, or if it is tied to an exchange.
    mutating func descriptorsExhausted(
        _ connection: ConnectionID, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard let index = index(of: connection), case .dialing(let dial) = slots[Int(index)].state else {
            return
        }
        let record = keys[Int(slots[Int(index)].key)]
        guard !idleSlots.isEmpty, !dial.wasRetried, dial.claimant == nil, let origin = record.origin else {
            dialFailed(connection, .descriptorsExhausted, at: now, into: &actions)
            return
        }
        closeAllIdle(.descriptorsExhausted, at: now, into: &actions)
        // The result is always `none`: the slot stays in the state `dialing`.
        _ = slots[Int(index)].handle(.retryDial, at: now, limits: limits)
        actions.append(.dial(connection, to: origin, loop: record.loop))
    }
}
