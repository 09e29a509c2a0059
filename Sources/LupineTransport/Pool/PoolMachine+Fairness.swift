// SPDX-License-Identifier: MIT

/// Distributes connections when there are not enough for all waiters.
extension PoolMachine {
    /// Returns how many connections of a key count towards its limit. Retiring connections do not count, up to the limit: a
    /// long response after GOAWAY blocks no other exchange, and a peer that sends GOAWAY on each connection has at most twice
    /// the limit.
    func countedConnections(of key: Int32) -> Int {
        let record = keys[Int(key)]
        return Int(record.slotCount) - min(Int(record.retiring), limits.perHost)
    }

    /// Whether a key has more waiters than its dials can serve, and is below its limit.
    func wantsDial(_ key: Int32) -> Bool {
        Int(keys[Int(key)].queue.count) > expectedServed(of: key)
            && countedConnections(of: key) < limits.perHost
    }

    /// Adds a key to the starved queue or removes it from there, according to `wantsDial`, and removes a key that holds nothing.
    mutating func rebalance(_ key: Int32, at now: Instant, into actions: inout [PoolAction]) {
        guard keys[Int(key)].origin != nil else { return }
        if keys[Int(key)].queue.count(in: .fresh) > 0 { makeRoomForFresh(key, at: now, into: &actions) }
        if mayShareDials { limitSharing(of: key, at: now, into: &actions) }
        if wantsDial(key) {
            if !keyLinks.isLinked(key) { keyLinks.append(key, to: &starved) }
            return
        }
        if keyLinks.isLinked(key) { keyLinks.remove(key, from: &starved) }
        removeIfUnused(key)
    }

    /// Dials for the starved keys in turn, while the total limit allows another connection or an idle one can be closed to make
    /// room.
    mutating func dialForStarved(at now: Instant, into actions: inout [PoolAction]) {
        while !starved.isEmpty {
            if Int(usedSlotCount) >= limits.total {
                guard let index = idleConnectionToClose() else { return }
                retire(index, .madeRoom, at: now, into: &actions)
            }
            guard let key = keyLinks.popFirst(of: &starved) else { return }
            startDial(for: key, at: now, into: &actions)
            if mayShareDials { limitSharing(of: key, at: now, into: &actions) }
            if wantsDial(key) { keyLinks.append(key, to: &starved) }
        }
    }

    /// Returns the connection that has been idle longest. A connection whose peer accepts no requests is skipped while its key
    /// has waiters: they would dial another in its place, whose peer would accept none either, and so on for ever.
    private func idleConnectionToClose() -> Int32? {
        var index = idle.first
        while index != LinkTable.none {
            let slot = slots[Int(index)]
            if slot.isAvailable || keys[Int(slot.key)].queue.isEmpty { return index }
            index = idleLinks.next(after: index)
        }
        return nil
    }

    /// Returns whether a connection that has just been returned to `key` must close, so that the first of the other starved keys
    /// can dial: if `key` has no waiters, or if the other key has no connection or at least two fewer. If the result is false,
    /// the other key moves to the end of the starved queue, so that the next call considers another one.
    mutating func considerYieldingToStarved(_ key: Int32) -> Bool {
        if starved.first == key, starved.count > 1 { rotateStarved() }
        let other = starved.first
        guard other != key, other != LinkTable.none else { return false }
        let otherCount = keys[Int(other)].slotCount - keys[Int(other)].retiring
        let ownCount = keys[Int(key)].slotCount - keys[Int(key)].retiring
        if keys[Int(key)].queue.isEmpty || otherCount == 0 || otherCount + 1 < ownCount { return true }
        rotateStarved()
        return false
    }

    /// Moves the first starved key to the end of the queue.
    private mutating func rotateStarved() {
        if let first = keyLinks.popFirst(of: &starved) { keyLinks.append(first, to: &starved) }
    }

    // MARK: Connections that are never idle

    /// How many exchanges must end before another connection is retired, while there are already as many retiring connections as
    /// starved keys. With three starved keys and three retiring connections, the fourth one is retired after this number:
    /// otherwise, if the exchanges on the three never ended, the three keys would wait for ever.
    static let endsBetweenRetirements = 1_024

    /// Returns whether a multiplexed connection of `key` must be retired, although an exchange has just ended on it and it could
    /// carry another: under a steady load it is never idle, and waiters of other keys would wait for ever. Counts the calls that
    /// return false because enough connections are retiring.
    mutating func considerRetiringForOthers(_ key: Int32) -> Bool {
        let needsFresh = mustYieldToFresh(key)
        if needsFresh, countedConnections(of: key) >= limits.perHost { return mayRetireAnother(of: key) }
        guard !starved.isEmpty else { return false }
        guard retiring < starved.count || endsSinceRetirement >= Self.endsBetweenRetirements else {
            endsSinceRetirement += 1
            return false
        }
        guard needsFresh || considerYieldingToStarved(key) else { return false }
        endsSinceRetirement = 0
        return true
    }

    /// Whether retiring one more connection helps the key. With a limit (`perHost`) of 6, six retiring connections do not count
    /// towards it. A seventh counts until it ends, which frees a place; an eighth would not free one sooner.
    private func mayRetireAnother(of key: Int32) -> Bool { Int(keys[Int(key)].retiring) <= limits.perHost }

    // MARK: Fresh connections

    /// Whether the waiter that is due first needs a fresh connection, no current dial will serve it, and no further dial is
    /// possible. A returned connection is then closed: otherwise other waiters would use it, and this one would wait for ever.
    func mustYieldToFresh(_ key: Int32) -> Bool {
        let record = keys[Int(key)]
        guard record.queue.count(in: .fresh) > 0,
            Int(record.queue.count(in: .fresh)) > expectedServed(of: key)
        else { return false }
        return (countedConnections(of: key) >= limits.perHost || Int(usedSlotCount) >= limits.total)
            && waiters.isFreshForemost(in: record.queue)
    }

    /// At the key's limit, replaces an idle connection with a fresh one for a waiter that needs it. Without an idle
    /// connection, a multiplexed one that could carry more is no longer leased.
    private mutating func makeRoomForFresh(
        _ key: Int32, at now: Instant, into actions: inout [PoolAction]
    ) {
        while Int(keys[Int(key)].queue.count(in: .fresh)) > expectedServed(of: key),
            countedConnections(of: key) >= limits.perHost, !keys[Int(key)].available.isEmpty
        {
            if let index = idleConnection(of: key) {
                retire(index, .madeRoom, rebalancing: false, at: now, into: &actions)
                startDial(for: key, at: now, into: &actions)
            } else {
                guard mayRetireAnother(of: key) else { return }
                retire(
                    keys[Int(key)].available.first, .madeRoom, rebalancing: false, at: now, into: &actions)
            }
        }
    }

    /// Returns an available connection of the key that carries nothing; nil if there is none.
    private func idleConnection(of key: Int32) -> Int32? {
        var index = keys[Int(key)].available.first
        while index != LinkTable.none, !slots[Int(index)].isIdle { index = slotLinks.next(after: index) }
        return index == LinkTable.none ? nil : index
    }
}
