// SPDX-License-Identifier: MIT

/// How connections end: idle ones expire or close to make room for others, some are lost, and all close at a shutdown.
extension PoolMachine {
    /// Closes an idle connection; marks a busy one so that it is not leased again. `rebalancing` is false if the caller itself
    /// serves the key's waiters or calls `rebalance` afterwards.
    mutating func retire(
        _ index: Int32, _ reason: CloseReason, rebalancing: Bool = true, at now: Instant,
        into actions: inout [PoolAction]
    ) {
        let connection = id(of: index)
        let key = slots[Int(index)].key
        let wasRetiring = slots[Int(index)].isRetiring
        removeFromLists(index, of: key)
        let effect = slots[Int(index)].handle(.retire, at: now, limits: limits)
        if effect == .close {
            freeSlot(index, of: key, wasRetiring: wasRetiring)
            actions.append(.close(connection, reason))
        } else if !wasRetiring {
            countRetiring(index, of: key)
        }
        if rebalancing { rebalance(key, at: now, into: &actions) }
    }

    /// Closes the idle connections of all keys.
    mutating func closeAllIdle(
        _ reason: CloseReason, at now: Instant, into actions: inout [PoolAction]
    ) {
        while !idleSlots.isEmpty { retire(idleSlots.first, reason, at: now, into: &actions) }
    }

    /// Handles the end of a connection.
    mutating func lost(_ connection: ConnectionID, at now: Instant, into actions: inout [PoolAction]) {
        guard let index = index(of: connection) else { return }
        let key = slots[Int(index)].key
        let wasRetiring = slots[Int(index)].isRetiring
        removeFromLists(index, of: key)
        // The result is always `close`. The driver closes the descriptor itself.
        _ = slots[Int(index)].handle(.gone, at: now, limits: limits)
        freeSlot(index, of: key, wasRetiring: wasRetiring)
        rebalance(key, at: now, into: &actions)
    }

    /// Removes a connection from the lists of leasable connections.
    private mutating func removeFromLists(_ index: Int32, of key: Int32) {
        if idleLinks.isLinked(index) { idleLinks.remove(index, from: &idleSlots) }
        if slotLinks.isLinked(index) { slotLinks.remove(index, from: &keys[Int(key)].available) }
    }

    /// Handles a tick: closes expired connections, and ends the sharing of dials that began too long ago.
    mutating func sweep(at now: Instant, into actions: inout [PoolAction]) {
        requestedTick = nil
        endSharing(at: now, into: &actions)
        var earliest: Instant?
        var index = idleSlots.first
        while index != LinkTable.none {
            let next = idleLinks.next(after: index)
            if slots[Int(index)].isExpired(at: now) {
                retire(index, .expired, at: now, into: &actions)
            } else if case .idle(let until) = slots[Int(index)].state {
                earliest = min(until, earliest ?? until)
            }
            index = next
        }
        if let earliest { requestTick(at: max(earliest, now + Self.sweepGranularity), into: &actions) }
    }

    /// Requests a `tick` at `instant`, unless one is pending for that time or earlier.
    mutating func requestTick(at instant: Instant, into actions: inout [PoolAction]) {
        if let requestedTick, requestedTick <= instant { return }
        requestedTick = instant
        actions.append(.wake(at: instant))
    }

    /// Fails all waiters and abandons all dials, closes idle connections, and retires busy ones.
    mutating func shutDown(at now: Instant, into actions: inout [PoolAction]) {
        guard phase == .running else { return }
        phase = .shuttingDown
        for key in keys.indices {
            while let exchange = waiters.popForemost(of: &keys[key].queue) {
                actions.append(.fail(exchange, .shutDown))
            }
            rebalance(Int32(key), at: now, into: &actions)
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
}
