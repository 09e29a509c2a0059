// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation

extension DispatchQueue {
    /// Runs the closure on the queue, so many seconds from now.
    func after(_ delay: TimeInterval, execute closure: @escaping @Sendable () -> Void) {
        asyncAfter(deadline: .now() + delay, execute: closure)
    }
}
