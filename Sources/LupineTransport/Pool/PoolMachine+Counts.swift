// SPDX-License-Identifier: MIT

/// What the pool holds, counted for gauges.
extension PoolMachine {
    /// What there is under each key: one look at every slot.
    var counts: [KeyCounts] {
        var places: [Int32: Int] = [:]
        var counts: [KeyCounts] = []
        for (key, record) in keys.enumerated() {
            // What a key has on another's connection is counted there.
            guard let origin = record.origin, record.open > 0 || !record.queue.isEmpty else { continue }
            places[Int32(key)] = counts.count
            counts.append(KeyCounts(origin: origin, waiting: Int(record.queue.count)))
        }
        for slot in slots {
            guard let place = places[slot.key] else { continue }
            switch slot.state {
            case .vacant: break
            case .dialing(let dial):
                counts[place].dialing += 1
                if dial.claimant != nil { counts[place].waiting += 1 }
            case .idle: counts[place].idle += 1
            case .busy, .retiring: counts[place].leased += 1
            }
        }
        return counts
    }
}
