// SPDX-License-Identifier: MIT

/// Connections of HTTP/2 that carry requests to other origins, too (RFC 9113 §9.1.1).
///
/// Whether a connection may do so its driver finds out, when a dial knows the addresses of its origin (`CoalescibleConnections`).
/// That dial ends then, and its key is a guest of the connection: its exchanges are lent it while it has room, unless the key
/// has a connection of its own that does. Exchanges that find neither wait for a dial, as any others.
extension PoolMachine {
    /// So many keys are guests of a connection at once. One more takes the place of the one that became so first, which asks its
    /// way again.
    static let mostGuests = 64

    /// Ends a dial for which a connection to another origin does, and lends that to those who waited for the dial. Where
    /// it has no room by now, or the dial is for somebody who wants a connection that is fresh, it goes on.
    mutating func coalesce(
        _ dial: ConnectionID, onto connection: ConnectionID, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard mayCoalesce(dial, onto: connection), let shared = self.index(of: connection),
            !slots[Int(shared)].isExpired(at: now), let index = index(of: dial),
            case .dialing(let state) = slots[Int(index)].state
        else { return }
        let key = slots[Int(index)].key
        if state.claimant == nil { keys[Int(key)].dials -= 1 }
        _ = slots[Int(index)].handle(.gone, at: now, limits: limits)
        forget(index, of: key)
        makeGuest(key, of: shared)
        if let claimant = state.claimant {
            lend(shared, of: slots[Int(shared)].key, to: claimant, at: now, into: &actions)
        }
        while slots[Int(shared)].lends, let exchange = waiters.popFirst(.any, of: &keys[Int(key)].queue) {
            lend(shared, of: slots[Int(shared)].key, to: exchange, at: now, into: &actions)
        }
        settle(key, at: now, into: &actions)
    }

    /// Whether a dial would end that way, the age of the connection aside.
    func mayCoalesce(_ dial: ConnectionID, onto connection: ConnectionID) -> Bool {
        guard mayShareDials, let index = index(of: dial), case .dialing(let state) = slots[Int(index)].state,
            let shared = self.index(of: connection), slots[Int(shared)].isMultiplexed,
            slots[Int(shared)].lends
        else { return false }
        let key = slots[Int(index)].key
        let needsFresh =
            state.claimant == nil ? keys[Int(key)].queue.count(in: .fresh) > 0 : state.needsFresh
        guard !needsFresh, slots[Int(shared)].key != key, let origin = keys[Int(key)].origin else {
            return false
        }
        return !misdirected.contains(origin)
    }

    /// Whether a dial is under way still.
    package func isDialing(_ connection: ConnectionID) -> Bool {
        guard let index = index(of: connection), case .dialing = slots[Int(index)].state else { return false }
        return true
    }

    /// A server has said that it does not answer for this origin (421): requests to it have connections of their own from
    /// here on.
    mutating func misdirected(_ origin: Origin, at now: Instant, into actions: inout [PoolAction]) {
        misdirected.insert(origin)
        guard let key = knownKey(of: origin) else { return }
        leave(key)
        settle(key, at: now, into: &actions)
    }

    /// The connection that a key is a guest of, if it has room.
    func sharedConnection(of key: Int32, at now: Instant) -> Int32? {
        guard let connection = keys[Int(key)].shared, let shared = index(of: connection),
            slots[Int(shared)].lends, !slots[Int(shared)].isExpired(at: now)
        else { return nil }
        return shared
    }

    private mutating func makeGuest(_ key: Int32, of shared: Int32) {
        leave(key)
        if slots[Int(shared)].guests.count >= Self.mostGuests,
            let first = guestLinks.popFirst(of: &slots[Int(shared)].guests)
        {
            keys[Int(first)].shared = nil
            forgetIfUnused(first)
        }
        guestLinks.append(key, to: &slots[Int(shared)].guests)
        keys[Int(key)].shared = name(of: shared)
    }

    private mutating func leave(_ key: Int32) {
        guard let connection = keys[Int(key)].shared, let shared = index(of: connection) else { return }
        guestLinks.remove(key, from: &slots[Int(shared)].guests)
        keys[Int(key)].shared = nil
    }

    /// A connection has ended: its guests are nobody's.
    mutating func dismissGuests(of index: Int32) {
        while let key = guestLinks.popFirst(of: &slots[Int(index)].guests) {
            keys[Int(key)].shared = nil
            forgetIfUnused(key)
        }
    }
}
