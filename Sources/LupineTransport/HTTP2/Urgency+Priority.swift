// SPDX-License-Identifier: MIT

import LupineHTTP2

extension Urgency {
    /// Maps an exchange's priority to an urgency: 3 only for the default priority, 0.5. The three levels above it divide the
    /// range up to 1 into thirds, the four levels below divide the range down to 0 into quarters: 0.75 maps to 1, and 0.25
    /// maps to 5.
    init(priority: Float) {
        let distance = min(max(priority, 0), 1) - ExchangePriority.normal
        // Three levels in 0.5 above the default are 6 steps per unit; four levels below are 8. Lower levels are more urgent.
        let steps = (distance > 0 ? -distance * 6 : -distance * 8).rounded(.awayFromZero)
        self.init(UInt8(Float(Urgency.normal.rawValue) + steps))
    }
}
