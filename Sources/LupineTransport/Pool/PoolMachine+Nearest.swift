// SPDX-License-Identifier: MIT

/// Chooses among a key's connections for an exchange that prefers an event loop. A key is an origin with connections or waiters.
extension PoolMachine {
    /// The limit of connections examined for the preferred loop, so that an event takes constant time.
    static let searchLimit = 16

    /// Returns an available connection of the key, which must have one. Of the `searchLimit` connections that became available
    /// last, it is the last one that runs on `loop`; if none runs there, it is the last one of all.
    func nearest(to loop: Int?, of key: Int32) -> Int32 {
        let last = keys[Int(key)].available.last
        guard let loop else { return last }
        var index = last
        var remainingChecks = Self.searchLimit
        while index != LinkTable.none, remainingChecks > 0 {
            if slots[Int(index)].loop == loop { return index }
            index = slotLinks.previous(before: index)
            remainingChecks -= 1
        }
        return last
    }
}
