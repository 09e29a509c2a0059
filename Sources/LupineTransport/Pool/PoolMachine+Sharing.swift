// SPDX-License-Identifier: MIT

/// Decides how many exchanges wait for one dial.
///
/// The first handshake with an origin shows which protocol it speaks; `http11Origins` stores those that chose HTTP/1.1. Until
/// then, all exchanges for an origin that may speak HTTP/2 share one dial. If each had its own dial, one of the connections could
/// carry all exchanges and the others would be unused. The sharing lasts for `sharingTime`, or until the dial fails or needs the
/// program's decision about its peer. After that each waiter gets its own dial, until a connection turns out to speak HTTP/2.
///
/// A key is an origin that has connections or waiters.
extension PoolMachine {
    /// How many exchanges the next connection of a key is expected to carry at once.
    enum ExpectedCapacity {
        /// One exchange at a time: only HTTP/1.1 is enabled, or the last connection spoke HTTP/1.1. Also used after a shared dial
        /// has failed, needs a decision of the program, or did not complete in time.
        case one
        /// Several: the origin may speak HTTP/2, or the last connection spoke it.
        case several
    }

    /// How long a dial is shared. Even a handshake with a distant server takes no longer, unless packets are lost.
    static let sharingTime = Interval.milliseconds(300)
    /// The expected capacity of a connection whose peer has announced no stream limit yet: as many streams as the client opens
    /// before the peer's SETTINGS arrive (H-5.9).
    static let assumedCapacity: Int32 = 100

    /// Returns how many waiters the current dials are expected to serve.
    func waitersServedByDials(of key: Int32) -> Int {
        let record = keys[Int(key)]
        switch record.expectedCapacity {
        case .one: return Int(record.unclaimedDials)
        case .several:
            let limit = expectedStreamLimit(of: key) ?? Self.assumedCapacity
            return Int(record.unclaimedDials) * Int(max(1, limit))
        }
    }

    /// Returns how many concurrent exchanges the next connection of a key is expected to carry; nil if unknown.
    func expectedStreamLimit(of key: Int32) -> Int32? {
        let record = keys[Int(key)]
        guard let carried = record.exchangesBeforeGoAway else { return record.announcedStreamLimit }
        return min(carried, record.announcedStreamLimit ?? carried)
    }

    /// Updates `expectedCapacity` and `http11Origins` from a connection that has just been opened. A connection that was tied to
    /// an exchange may serve only that exchange, whatever protocol it speaks. So it is ignored, unless it is multiplexed.
    mutating func updateExpectation(from index: Int32, of key: Int32, wasClaimed: Bool, at now: Instant) {
        guard mayShareDials, let origin = keys[Int(key)].origin, maySpeakHTTP2(origin) else { return }
        let isMultiplexed = slots[Int(index)].isMultiplexed
        guard isMultiplexed || !wasClaimed else { return }
        if isMultiplexed { http11Origins.remove(origin) } else { http11Origins.insert(origin) }
        keys[Int(key)].expectedCapacity = isMultiplexed ? .several : .one
        // Restarts `sharingTime` for the dials in progress.
        if isMultiplexed { keys[Int(key)].dialsStart = now }
    }

    /// Limits the time for which exchanges share a dial: gives each waiter its own dial when `sharingTime` has passed, and
    /// requests a tick for that time.
    mutating func limitSharing(of key: Int32, at now: Instant, into actions: inout [PoolAction]) {
        guard isSharing(key) else {
            if sharingLinks.isLinked(key) { sharingLinks.remove(key, from: &sharingKeys) }
            return
        }
        let end = keys[Int(key)].dialsStart + Self.sharingTime
        guard end > now else {
            keys[Int(key)].expectedCapacity = .one
            if sharingLinks.isLinked(key) { sharingLinks.remove(key, from: &sharingKeys) }
            return
        }
        if !sharingLinks.isLinked(key) { sharingLinks.append(key, to: &sharingKeys) }
        requestTick(at: end, into: &actions)
    }

    /// Whether an exchange waits for a shared dial and would otherwise have its own.
    private func isSharing(_ key: Int32) -> Bool {
        let record = keys[Int(key)]
        return record.expectedCapacity == .several && record.unclaimedDials > 0
            && record.queue.count > record.unclaimedDials
            && countedConnections(of: key) < limits.perHost && !wantsDial(key)
    }

    /// Ends the sharing of dials that began too long ago: `rebalance` calls `limitSharing` for each key.
    mutating func endSharing(at now: Instant, into actions: inout [PoolAction]) {
        var key = sharingKeys.first
        while key != LinkTable.none {
            let next = sharingLinks.next(after: key)
            rebalance(key, at: now, into: &actions)
            key = next
        }
    }
}
