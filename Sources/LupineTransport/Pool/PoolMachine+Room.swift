// SPDX-License-Identifier: MIT

/// Who gets a connection where there is not one for everybody.
extension PoolMachine {
    /// How many connections of a key count for its limit. Those that drain are left out, up to as many as the limit allows: a
    /// long response behind GOAWAY stands in nobody's way, and a peer that sends each connection away has twice as many at most.
    func taken(by key: Int32) -> Int {
        let record = keys[Int(key)]
        return Int(record.open) - min(Int(record.retiring), limits.perHost)
    }

    func wantsDial(_ key: Int32) -> Bool {
        Int(keys[Int(key)].queue.count) > served(of: key) && taken(by: key) < limits.perHost
    }

    /// Brings a key's place among the starved up to date and forgets a key that holds nothing.
    mutating func settle(_ key: Int32, at now: Instant, into actions: inout [PoolAction]) {
        guard keys[Int(key)].origin != nil else { return }
        if keys[Int(key)].queue.count(in: .fresh) > 0 { makeRoomForFresh(key, at: now, into: &actions) }
        if mayShareDials { limitSharing(of: key, at: now, into: &actions) }
        if wantsDial(key) {
            if !keyLinks.isLinked(key) { keyLinks.append(key, to: &starved) }
            return
        }
        if keyLinks.isLinked(key) { keyLinks.remove(key, from: &starved) }
        forgetIfUnused(key)
    }

    /// Dials for the starved keys in turn while there is room, or while an idle connection can make some.
    mutating func feedStarved(at now: Instant, into actions: inout [PoolAction]) {
        while !starved.isEmpty {
            if Int(open) >= limits.total {
                guard let index = idleThatMakesRoom() else { return }
                retire(index, .madeRoom, at: now, into: &actions)
            }
            guard let key = keyLinks.popFirst(of: &starved) else { return }
            startDial(for: key, at: now, into: &actions)
            if mayShareDials { limitSharing(of: key, at: now, into: &actions) }
            if wantsDial(key) { keyLinks.append(key, to: &starved) }
        }
    }

    /// The connection that has been idle longest. One whose peer takes no requests is spared while its key has waiters: they
    /// would dial another in its place, which fares no better, and so on for ever.
    private func idleThatMakesRoom() -> Int32? {
        var index = idle.first
        while index != LinkTable.none {
            let slot = slots[Int(index)]
            if slot.lends || keys[Int(slot.key)].queue.isEmpty { return index }
            index = idleLinks.next(after: index)
        }
        return nil
    }

    /// True when a connection that has just come back to `key` is due to the first of the other starved keys. Each
    /// question moves the key it was about to the end of the queue, so that every starved key has its turn.
    mutating func owesRoom(_ key: Int32) -> Bool {
        if starved.first == key, starved.count > 1 { rotateStarved() }
        let other = starved.first
        guard other != key, other != LinkTable.none else { return false }
        let theirs = keys[Int(other)].open - keys[Int(other)].retiring
        let ours = keys[Int(key)].open - keys[Int(key)].retiring
        if keys[Int(key)].queue.isEmpty || theirs == 0 || theirs + 1 < ours { return true }
        rotateStarved()
        return false
    }

    private mutating func rotateStarved() {
        if let first = keyLinks.popFirst(of: &starved) { keyLinks.append(first, to: &starved) }
    }

    // MARK: connections that are never idle

    /// So many exchanges end before one more connection gives way than are waited for: those that gave way may carry
    /// exchanges that never end.
    static let endsBetween = 1_024

    /// Whether a connection of `key` that has just come to carry one exchange less, and could carry another, is to be lent no
    /// more. Under a steady load it is never idle, and whoever waits for room would wait for ever.
    mutating func givesWay(_ key: Int32) -> Bool {
        let needsFresh = mustYieldToFresh(key)
        if needsFresh, taken(by: key) >= limits.perHost { return mayDrainAnother(of: key) }
        guard !starved.isEmpty else { return false }
        guard retiring < starved.count || endsSinceGivingWay >= Self.endsBetween else {
            endsSinceGivingWay += 1
            return false
        }
        guard needsFresh || owesRoom(key) else { return false }
        endsSinceGivingWay = 0
        return true
    }

    /// Whether the end of one more connection's lending makes room for its key. Where as many drain as are left out of the
    /// count, and one more, that one's end makes room.
    private func mayDrainAnother(of key: Int32) -> Bool { Int(keys[Int(key)].retiring) <= limits.perHost }

    // MARK: fresh connections

    /// True when the waiter that is due first wants a new connection, none is on its way for it, and there is no room
    /// to dial one: then a returned connection closes, or ordinary waiters would pass the fresh lane for ever.
    func mustYieldToFresh(_ key: Int32) -> Bool {
        let record = keys[Int(key)]
        guard record.queue.count(in: .fresh) > 0, Int(record.queue.count(in: .fresh)) > served(of: key)
        else { return false }
        return (taken(by: key) >= limits.perHost || Int(open) >= limits.total)
            && waiters.isFreshForemost(in: record.queue)
    }

    /// At the key's limit, whoever waits for a new connection has it in the place of an idle one, or of one that carries
    /// several exchanges and has room for more: that one is lent no more.
    private mutating func makeRoomForFresh(
        _ key: Int32, at now: Instant, into actions: inout [PoolAction]
    ) {
        while Int(keys[Int(key)].queue.count(in: .fresh)) > served(of: key),
            taken(by: key) >= limits.perHost, !keys[Int(key)].available.isEmpty
        {
            if let index = idleConnection(of: key) {
                retire(index, .madeRoom, settling: false, at: now, into: &actions)
                startDial(for: key, at: now, into: &actions)
            } else {
                guard mayDrainAnother(of: key) else { return }
                retire(
                    keys[Int(key)].available.first, .madeRoom, settling: false, at: now, into: &actions)
            }
        }
    }

    private func idleConnection(of key: Int32) -> Int32? {
        var index = keys[Int(key)].available.first
        while index != LinkTable.none, !slots[Int(index)].isIdle { index = slotLinks.next(after: index) }
        return index == LinkTable.none ? nil : index
    }
}
