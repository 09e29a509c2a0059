// SPDX-License-Identifier: MIT

/// Which of a key's connections an exchange is lent that asks for a loop, and what is counted for gauges.
extension PoolMachine {
    /// So many connections are looked at for one of the loop that is asked for: an event costs a constant amount of work.
    static let nearestLooks = 16

    /// Of the connections of a key that can be lent, of which there is one at least: the last that came back of those that live on
    /// `loop`; where the last few have none of that loop, the very last.
    func nearest(to loop: Int?, of key: Int32) -> Int32 {
        let last = keys[Int(key)].available.last
        guard let loop else { return last }
        var index = last
        var looks = Self.nearestLooks
        while index != LinkTable.none, looks > 0 {
            if slots[Int(index)].loop == loop { return index }
            index = slotLinks.previous(before: index)
            looks -= 1
        }
        return last
    }

    /// What there is under each key: one look at every slot.
    var counts: [KeyCounts] {
        var places: [Int32: Int] = [:]
        var counts: [KeyCounts] = []
        for (key, record) in keys.enumerated() {
            guard let origin = record.origin else { continue }
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
