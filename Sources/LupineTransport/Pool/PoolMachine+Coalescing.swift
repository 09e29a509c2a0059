// SPDX-License-Identifier: MIT

/// HTTP/2 connections that also carry requests to other origins (RFC 9113 §9.1.1).
///
/// A key is an origin that has connections or waiting exchanges. When a dial has resolved its origin's addresses, the driver
/// looks for a connection that may carry the origin's exchanges (`CoalescibleConnections`). If there is one, the dial ends and
/// its key is coalesced onto that connection. An exchange of the key then runs on an available connection of the key. If there
/// is none, it runs on the connection of the other origin, or waits for a dial if that connection can carry no further exchange.
extension PoolMachine {
    /// The limit of keys that are coalesced onto one connection. A further key replaces the key that was added first, which then
    /// dials again.
    static let coalescedKeyLimit = 64

    /// Ends a dial that a connection to another origin makes unnecessary, and leases that connection to the exchanges that waited
    /// for the dial. Does nothing, so that the dial continues, if the connection can carry no further exchange, or if the dial is
    /// for an exchange that needs a fresh connection.
    mutating func coalesce(
        _ dial: ConnectionID, onto connection: ConnectionID, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard mayCoalesce(dial, onto: connection), let shared = self.index(of: connection),
            !slots[Int(shared)].isExpired(at: now), let index = index(of: dial),
            case .dialing(let dialState) = slots[Int(index)].state
        else { return }
        let key = slots[Int(index)].key
        if dialState.claimant == nil { keys[Int(key)].unclaimedDials -= 1 }
        // The result is always `close`. The dial has opened nothing yet, and ends itself.
        _ = slots[Int(index)].handle(.gone, at: now, limits: limits)
        freeSlot(index, of: key)
        coalesceKey(key, onto: shared)
        if let claimant = dialState.claimant {
            lease(shared, of: slots[Int(shared)].key, to: claimant, at: now, into: &actions)
        }
        while slots[Int(shared)].isAvailable,
            let exchange = waiters.popFirst(.any, of: &keys[Int(key)].queue)
        {
            lease(shared, of: slots[Int(shared)].key, to: exchange, at: now, into: &actions)
        }
        rebalance(key, at: now, into: &actions)
    }

    /// Whether `coalesce` would end this dial in favour of the connection; the connection's age is not checked.
    func mayCoalesce(_ dial: ConnectionID, onto connection: ConnectionID) -> Bool {
        guard mayShareDials, let index = index(of: dial),
            case .dialing(let dialState) = slots[Int(index)].state,
            let shared = self.index(of: connection), slots[Int(shared)].isMultiplexed,
            slots[Int(shared)].isAvailable
        else { return false }
        let key = slots[Int(index)].key
        // A dial that is tied to no exchange first serves the waiters that need a fresh connection.
        let needsFresh =
            dialState.claimant == nil ? keys[Int(key)].queue.count(in: .fresh) > 0 : dialState.needsFresh
        guard !needsFresh, slots[Int(shared)].key != key, let origin = keys[Int(key)].origin else {
            return false
        }
        return !misdirectedOrigins.contains(origin)
    }

    /// Whether the dial is still in progress.
    package func isDialing(_ connection: ConnectionID) -> Bool {
        guard let index = index(of: connection), case .dialing = slots[Int(index)].state else { return false }
        return true
    }

    /// Records a 421 response for this origin: from then on, its exchanges use only its own connections.
    mutating func misdirected(_ origin: Origin, at now: Instant, into actions: inout [PoolAction]) {
        misdirectedOrigins.insert(origin)
        guard let key = knownKey(of: origin) else { return }
        detachKey(key)
        rebalance(key, at: now, into: &actions)
    }

    /// Returns the slot of the connection that a key is coalesced onto, if that connection can carry another exchange.
    func coalescedConnection(of key: Int32, at now: Instant) -> Int32? {
        guard let connection = keys[Int(key)].coalescedOnto, let shared = index(of: connection),
            slots[Int(shared)].isAvailable, !slots[Int(shared)].isExpired(at: now)
        else { return nil }
        return shared
    }

    /// Records that the connection in the slot `shared` carries the exchanges of a key.
    private mutating func coalesceKey(_ key: Int32, onto shared: Int32) {
        detachKey(key)
        if slots[Int(shared)].coalescedKeys.count >= Self.coalescedKeyLimit,
            let first = coalescedLinks.popFirst(of: &slots[Int(shared)].coalescedKeys)
        {
            keys[Int(first)].coalescedOnto = nil
            removeIfUnused(first)
        }
        coalescedLinks.append(key, to: &slots[Int(shared)].coalescedKeys)
        keys[Int(key)].coalescedOnto = id(of: shared)
    }

    /// Ends the coalescing of a key, if it is coalesced.
    private mutating func detachKey(_ key: Int32) {
        guard let connection = keys[Int(key)].coalescedOnto, let shared = index(of: connection) else {
            return
        }
        coalescedLinks.remove(key, from: &slots[Int(shared)].coalescedKeys)
        keys[Int(key)].coalescedOnto = nil
    }

    /// Detaches all keys that were coalesced onto a connection that has ended.
    mutating func detachCoalescedKeys(of index: Int32) {
        while let key = coalescedLinks.popFirst(of: &slots[Int(index)].coalescedKeys) {
            keys[Int(key)].coalescedOnto = nil
            removeIfUnused(key)
        }
    }
}
