// SPDX-License-Identifier: MIT

package import LupineTransport

/// The one alarm clock of all loads in the process, which is made when it is first needed. Any thread.
package enum LoadAlarms {
    private static let clock = Lock(AlarmClock?.none)

    /// The clock, if anybody has needed it.
    package static var known: AlarmClock? { clock.withLock { $0 } }

    /// The clock. Without it, the next who needs one tries again: descriptors may have run out for a moment only.
    static func shared() -> AlarmClock? {
        if let known { return known }
        guard let loop = try? EventLoopGroup.shared().next() else { return nil }
        let made = AlarmClock(loop: loop)
        return clock.withLock { known in
            if let known { return known }
            known = made
            return made
        }
    }
}
