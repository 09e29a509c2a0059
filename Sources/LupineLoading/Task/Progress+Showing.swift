// SPDX-License-Identifier: MIT

package import Foundation

extension Progress {
    /// Sets new counts in an order that Foundation allows: `Progress` stops the program when a total becomes 0, or on some
    /// fractions of large totals, but not if the total was unknown before.
    ///
    /// Observers of the object are the program's code, so no lock may be held.
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
