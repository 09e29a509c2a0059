// SPDX-License-Identifier: MIT

/// Chooses among a key's connections for an exchange that prefers a loop.
extension PoolMachine {
    /// The limit of connections examined for the preferred loop, so that an event takes constant time.
    static let searchLimit = 16

    /// Returns an available connection of the key, which must have one: the most recently returned connection that runs on `loop`
    /// or, if none of the last `searchLimit` runs there, the most recently returned one.
    func nearest(to loop: Int?, of key: Int32) -> Int32 {
        let last = keys[Int(key)].available.last
        guard let loop else { return last }
        var index = last
        var stepsLeft = Self.searchLimit
        while index != LinkTable.none, stepsLeft > 0 {
            if slots[Int(index)].loop == loop { return index }
            index = slotLinks.previous(before: index)
            stepsLeft -= 1
        }
        return last
    }
}
