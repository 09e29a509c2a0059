// SPDX-License-Identifier: MIT

/// Chooses among a key's connections for an exchange that prefers a loop.
extension PoolMachine {
    /// The limit of connections examined for the preferred loop, so that an event takes constant time.
    static let searchLimit = 16

    /// Returns one of a key's available connections, of which there must be at least one: the most recently returned one of
    /// `loop`, or the most recently returned of all if the last few have none of that loop.
    func nearest(to loop: Int?, of key: Int32) -> Int32 {
        let last = keys[Int(key)].available.last
        guard let loop else { return last }
        var index = last
        var left = Self.searchLimit
        while index != LinkTable.none, left > 0 {
            if slots[Int(index)].loop == loop { return index }
            index = slotLinks.previous(before: index)
            left -= 1
        }
        return last
    }
}
