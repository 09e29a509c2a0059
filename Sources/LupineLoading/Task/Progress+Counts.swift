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
}
