// SPDX-License-Identifier: MIT

import LupineHTTP2

extension Urgency {
    /// What the priority of an exchange means on the wire: 3 for the usual one, 0.5, and for no other. Above it are three
    /// levels, a third of the way to 1 each, and below it four, a quarter of the way to 0 each: 0.75 means 1, and 0.25 means 5.
    init(priority: Float) {
        let distance = min(max(priority, 0), 1) - Exchange.defaultPriority
        let steps = (distance > 0 ? -distance * 6 : -distance * 8).rounded(.awayFromZero)
        self.init(UInt8(Float(Urgency.normal.rawValue) + steps))
    }
}
