// SPDX-License-Identifier: MIT

package import Foundation

extension Progress {
    /// Sets new counts in an order that Foundation allows: `Progress` traps when the total becomes 0, and on some fractions of
    /// large totals, but not if the total was unknown before.
    ///
    /// No lock may be held, because observers of the object are the program's code.
    package func show(completed: Int64, of total: Int64) {
        if totalUnitCount == total {
            completedUnitCount = completed
        } else {
            totalUnitCount = NSURLSessionTransferSizeUnknown
            completedUnitCount = completed
            totalUnitCount = total
        }
    }
}
