// SPDX-License-Identifier: MIT

/// The numbers of connections and waiters, which programs read as metrics.
extension PoolMachine {
    /// The counts of each key (an origin that has connections or waiters). Visits every slot once.
    var counts: [KeyCounts] {
        var positions: [Int32: Int] = [:]
        var counts: [KeyCounts] = []
        for (key, record) in keys.enumerated() {
            // The exchanges of a coalesced key are counted for the connection's own key.
            guard let origin = record.origin, record.slotCount > 0 || !record.queue.isEmpty else { continue }
            positions[Int32(key)] = counts.count
            counts.append(KeyCounts(origin: origin, waiting: Int(record.queue.count)))
        }
        for slot in slots {
            guard let position = positions[slot.key] else { continue }
            switch slot.state {
            case .vacant: break
            case .dialing(let dial):
                counts[position].dialing += 1
                if dial.claimant != nil { counts[position].waiting += 1 }
            case .idle: counts[position].idle += 1
            case .busy, .retiring: counts[position].leased += 1
            }
        }
        return counts
    }
}
