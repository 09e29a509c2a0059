// SPDX-License-Identifier: MIT

package import Foundation

extension Progress {
    /// Sets the completed and the total count. The caller must hold no lock, because observers of the object are code of the
    /// program.
    ///
    /// Foundation's `Progress` traps when the total becomes 0, and for some fractions of large totals, unless the total was
    /// unknown before. This method therefore sets the total to unknown first.
    package func setCounts(completed: Int64, of total: Int64) {
        if totalUnitCount == total {
            completedUnitCount = completed
        } else {
            totalUnitCount = NSURLSessionTransferSizeUnknown
            completedUnitCount = completed
            totalUnitCount = total
        }
    }
    /// Sets the completed count to the total. If the total is unknown, sets the total to the completed count first. The caller
    /// must hold no lock.
    func complete() {
        // The total is at least 1, because `Progress` traps when the total becomes 0.
        if totalUnitCount < 0 { totalUnitCount = max(completedUnitCount, 1) }
        completedUnitCount = totalUnitCount
    }
}
