// SPDX-License-Identifier: MIT

package import Foundation

extension Progress {
    /// Takes new numbers, in an order that Foundation allows: it stops the program when a total becomes none, or meets some
    /// fractions of large ones; not when it was unknown before.
    ///
    /// Whoever watches the object is the program's: no lock is held.
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
