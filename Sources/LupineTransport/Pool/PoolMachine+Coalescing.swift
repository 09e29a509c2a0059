// SPDX-License-Identifier: MIT

/// HTTP/2 connections that also carry requests to other origins (RFC 9113 §9.1.1).
///
/// The driver finds out whether a connection may do so when a dial knows the addresses of its origin
/// (`CoalescibleConnections`). The dial then ends, and its key becomes a guest of the connection: the connection is leased to
/// the key's exchanges while it can take more, unless the key has an available connection of its own. Exchanges that find
/// neither wait for a dial as usual.
extension PoolMachine {
    /// The limit of guests of one connection. Another guest replaces the one that was added first, which must dial again.
    static let mostGuests = 64

    /// Ends a dial that a connection to another origin makes unnecessary, and leases that connection to those who waited for
    /// the dial. The dial continues if the connection can take no more by now, or if the dial is for an exchange that needs a
    /// fresh connection.
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

    /// Whether a dial could end in this way, apart from the connection's age.
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

    /// Whether the dial is still in progress.
    package func isDialing(_ connection: ConnectionID) -> Bool {
        guard let index = index(of: connection), case .dialing = slots[Int(index)].state else { return false }
        return true
    }

    /// Records a 421 response for this origin: its requests use connections of their own from now on.
    mutating func misdirected(_ origin: Origin, at now: Instant, into actions: inout [PoolAction]) {
        misdirected.insert(origin)
        guard let key = knownKey(of: origin) else { return }
        leave(key)
        settle(key, at: now, into: &actions)
    }

    /// Returns the connection that a key is a guest of, if it can take another exchange.
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

    /// Removes all guests of a connection that has ended.
    mutating func dismissGuests(of index: Int32) {
        while let key = guestLinks.popFirst(of: &slots[Int(index)].guests) {
            keys[Int(key)].shared = nil
            forgetIfUnused(key)
        }
    }
}
