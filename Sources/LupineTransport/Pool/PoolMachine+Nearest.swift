// SPDX-License-Identifier: MIT

/// Which of a key's connections an exchange is lent that asks for a loop.
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
}
