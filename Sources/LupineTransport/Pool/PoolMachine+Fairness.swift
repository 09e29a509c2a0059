// SPDX-License-Identifier: MIT

/// Distributes connections when there are not enough for all waiters.
///
/// A key is an origin that has connections or waiters. It is starved while it needs a dial that the total limit does not allow.
/// A retiring connection still carries exchanges and is not leased again. A fresh connection has carried no exchange.
extension PoolMachine {
    /// Returns how many connections of a key count towards its limit. Retiring connections do not count, up to the limit. So a
    /// long response after GOAWAY blocks no other exchange, and a peer that sends GOAWAY on each connection has at most twice
    /// the limit.
    func countedConnections(of key: Int32) -> Int {
        let record = keys[Int(key)]
        return Int(record.slotCount) - min(Int(record.retiringCount), limits.perHost)
    }

    /// Whether a key has more waiters than its dials can serve, and is below its limit.
    func wantsDial(_ key: Int32) -> Bool {
        Int(keys[Int(key)].queue.count) > waitersServedByDials(of: key)
            && countedConnections(of: key) < limits.perHost
    }

    /// Adds a key to `starvedKeys` if `wantsDial` is true for it. Otherwise removes it from there, and deletes the key if it is
    /// unused. `handle` calls `dialForStarved` at the end of each event.
    mutating func rebalance(_ key: Int32, at now: Instant, into actions: inout [PoolAction]) {
        guard keys[Int(key)].origin != nil else { return }
        if keys[Int(key)].queue.count(in: .fresh) > 0 { makeRoomForFresh(key, at: now, into: &actions) }
        if mayShareDials { limitSharing(of: key, at: now, into: &actions) }
        if wantsDial(key) {
            if !keyLinks.isLinked(key) { keyLinks.append(key, to: &starvedKeys) }
            return
        }
        if keyLinks.isLinked(key) { keyLinks.remove(key, from: &starvedKeys) }
        removeIfUnused(key)
    }

    /// Dials for one starved key after the other, while the total limit allows another connection, or while an idle connection
    /// can be closed to make room.
    mutating func dialForStarved(at now: Instant, into actions: inout [PoolAction]) {
        while !starvedKeys.isEmpty {
            if Int(usedSlotCount) >= limits.total {
                guard let index = idleConnectionToClose() else { return }
                retire(index, .madeRoom, at: now, into: &actions)
            }
            guard let key = keyLinks.popFirst(of: &starvedKeys) else { return }
            startDial(for: key, at: now, into: &actions)
            if mayShareDials { limitSharing(of: key, at: now, into: &actions) }
            if wantsDial(key) { keyLinks.append(key, to: &starvedKeys) }
        }
    }

    /// Returns the connection that has been idle longest. Skips a connection whose peer accepts no requests while its key has
    /// waiters: they would dial another one in its place, whose peer would accept no requests either, and so on for ever.
    private func idleConnectionToClose() -> Int32? {
        var index = idleSlots.first
        while index != LinkTable.none {
            let slot = slots[Int(index)]
            if slot.isAvailable || keys[Int(slot.key)].queue.isEmpty { return index }
            index = idleLinks.next(after: index)
        }
        return nil
    }

    /// Returns whether a connection of `key` whose exchange has just ended must close, so that the first of the other starved
    /// keys can dial. The connection must close if `key` has no waiters, or if the other key has no connection or at least two
    /// fewer. If the result is false, the other key moves to the end of `starvedKeys`: the next call considers another key.
    mutating func mustYieldToStarved(_ key: Int32) -> Bool {
        if starvedKeys.first == key, starvedKeys.count > 1 { rotateStarved() }
        let other = starvedKeys.first
        guard other != key, other != LinkTable.none else { return false }
        let otherCount = keys[Int(other)].slotCount - keys[Int(other)].retiringCount
        let ownCount = keys[Int(key)].slotCount - keys[Int(key)].retiringCount
        if keys[Int(key)].queue.isEmpty || otherCount == 0 || otherCount + 1 < ownCount { return true }
        rotateStarved()
        return false
    }

    /// Moves the first starved key to the end of the queue.
    private mutating func rotateStarved() {
        if let first = keyLinks.popFirst(of: &starvedKeys) { keyLinks.append(first, to: &starvedKeys) }
    }

    // MARK: Connections that are never idle

    /// How many exchanges must end before another connection is retired, while there are as many retiring connections as starved
    /// keys. For example, with three starved keys and three retiring connections, a fourth one is retired after this number.
    /// Otherwise the three keys would wait for ever if the exchanges on the three connections never ended.
    static let endsBetweenRetirements = 1_024

    /// Returns whether a multiplexed connection of `key`, on which an exchange has just ended, must be retired although it could
    /// carry another exchange. Under a steady load it is never idle, and waiters of other keys would wait for ever. Counts the
    /// calls that return false because enough connections are retiring (`endsSinceRetirement`).
    mutating func mustRetireForOthers(_ key: Int32) -> Bool {
        let needsFresh = mustYieldToFresh(key)
        if needsFresh, countedConnections(of: key) >= limits.perHost { return mayRetireAnother(of: key) }
        guard !starvedKeys.isEmpty else { return false }
        guard retiringCount < starvedKeys.count || endsSinceRetirement >= Self.endsBetweenRetirements else {
            endsSinceRetirement += 1
            return false
        }
        // If `mustYieldToStarved` returns false, it has moved the starved key to the end of the queue.
        guard needsFresh || mustYieldToStarved(key) else { return false }
        endsSinceRetirement = 0
        return true
    }

    /// Whether retiring one more connection helps the key. For example, with a limit (`perHost`) of 6, six retiring connections
    /// do not count towards it. A seventh counts until it ends, and then allows a new connection; an eighth would not allow one
    /// sooner.
    private func mayRetireAnother(of key: Int32) -> Bool {
        Int(keys[Int(key)].retiringCount) <= limits.perHost
    }

    // MARK: Fresh connections

    /// Whether the waiter that is served next needs a fresh connection, no current dial will serve it, and no further dial is
    /// possible. A connection whose exchange ends is then closed: otherwise other waiters would use it, and this waiter would
    /// wait for ever.
    func mustYieldToFresh(_ key: Int32) -> Bool {
        let record = keys[Int(key)]
        guard record.queue.count(in: .fresh) > 0,
            Int(record.queue.count(in: .fresh)) > waitersServedByDials(of: key)
        else { return false }
        let isAtLimit = countedConnections(of: key) >= limits.perHost || Int(usedSlotCount) >= limits.total
        return isAtLimit && waiters.isFreshForemost(in: record.queue)
    }

    /// If the key is at its limit, closes an idle connection and dials a fresh one for a waiter that needs it. If no connection
    /// is idle, retires a multiplexed one, so that a dial becomes possible.
    private mutating func makeRoomForFresh(
        _ key: Int32, at now: Instant, into actions: inout [PoolAction]
    ) {
        while Int(keys[Int(key)].queue.count(in: .fresh)) > waitersServedByDials(of: key),
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
