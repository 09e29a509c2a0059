// SPDX-License-Identifier: MIT

/// How many exchanges wait for one dial.
///
/// What an origin speaks is known when its first handshake is over (and then remembered, `choseHTTP11`). Until then all that wait for an origin which may turn out
/// to speak HTTP/2 wait for one dial, rather than each for its own, of which one connection would be used. They do so for
/// `sharingTime`, or until the dial fails or asks about its peer; then each has its own dial, until a connection shows that
/// there is no need.
extension PoolMachine {
    /// What the next connection of a key is expected to carry.
    enum ExpectedCapacity {
        /// One exchange at a time: nothing but HTTP/1.1 is spoken, the last connection spoke it, or a shared dial was waited
        /// for in vain.
        case one
        /// Several at once: the origin may speak HTTP/2, or has done so last.
        case several
    }

    /// How long a dial is shared. A handshake across the world takes no longer, where nothing is lost.
    static let sharingTime = Interval.milliseconds(300)
    /// What a connection is expected to carry whose peer has said nothing yet: as much as is sent before it does (H-5.9).
    static let assumedCapacity: Int32 = 100

    /// How many waiters the dials under way are expected to serve.
    func served(of key: Int32) -> Int {
        let record = keys[Int(key)]
        switch record.outlook {
        case .one: return Int(record.dials)
        case .several: return Int(record.dials) * Int(max(1, expected(of: key) ?? Self.assumedCapacity))
        }
    }

    /// How many exchanges the next connection of a key is lent to at once, as far as anything is known.
    func expected(of key: Int32) -> Int32? {
        let record = keys[Int(key)]
        guard let endurance = record.endurance else { return record.allowed }
        return min(endurance, record.allowed ?? endurance)
    }

    /// Notes what a connection that has just been opened says of those that follow it. One that was tied to an exchange may be
    /// that exchange's alone, whatever is spoken on it.
    mutating func learn(from index: Int32, of key: Int32, wasClaimed: Bool, at now: Instant) {
        guard mayShareDials, let origin = keys[Int(key)].origin, maySpeakHTTP2(origin) else { return }
        let isMultiplexed = slots[Int(index)].isMultiplexed
        guard isMultiplexed || !wasClaimed else { return }
        if isMultiplexed { choseHTTP11.remove(origin) } else { choseHTTP11.insert(origin) }
        keys[Int(key)].outlook = isMultiplexed ? .several : .one
        if isMultiplexed { keys[Int(key)].dialsBegan = now }
    }

    /// Sees to it that nobody waits too long for a dial that others wait for too. A timer is asked for when somebody does wait.
    mutating func limitSharing(of key: Int32, at now: Instant, into actions: inout [PoolAction]) {
        guard isSharing(key) else {
            if sharingLinks.isLinked(key) { sharingLinks.remove(key, from: &sharing) }
            return
        }
        let end = keys[Int(key)].dialsBegan + Self.sharingTime
        guard end > now else {
            keys[Int(key)].outlook = .one
            if sharingLinks.isLinked(key) { sharingLinks.remove(key, from: &sharing) }
            return
        }
        if !sharingLinks.isLinked(key) { sharingLinks.append(key, to: &sharing) }
        askForWake(at: end, into: &actions)
    }

    /// Whether somebody waits for another's dial who would have one of its own otherwise.
    private func isSharing(_ key: Int32) -> Bool {
        let record = keys[Int(key)]
        return record.outlook == .several && record.dials > 0 && record.queue.count > record.dials
            && taken(by: key) < limits.perHost && !wantsDial(key)
    }

    /// Ends the sharing of dials that began too long ago.
    mutating func endSharing(at now: Instant, into actions: inout [PoolAction]) {
        var key = sharing.first
        while key != LinkTable.none {
            let next = sharingLinks.next(after: key)
            settle(key, at: now, into: &actions)
            key = next
        }
    }
}
