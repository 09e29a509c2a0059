// SPDX-License-Identifier: MIT

import LupineHTTP2

extension Urgency {
    /// Maps an exchange's priority (0 to 1, the highest first) to an urgency (0 to 7, the lowest first). Only the default
    /// priority, 0.5, maps to the default urgency, 3. Three urgencies divide the range above 0.5 into thirds, and four divide
    /// the range below it into quarters. For example, 0.75 maps to 1, and 0.25 maps to 5.
    init(priority: Float) {
        let distance = min(max(priority, 0), 1) - ExchangePriority.normal
        // Above the default: 3 levels within 0.5, so 6 levels per unit. Below: 4 levels within 0.5, so 8 levels per unit.
        let levels = (distance > 0 ? -distance * 6 : -distance * 8).rounded(.awayFromZero)
        self.init(UInt8(Float(Urgency.normal.rawValue) + levels))
    }
}
