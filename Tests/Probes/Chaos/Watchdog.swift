// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineChaos

/// Ends the process when a request of a round takes too long, and says which. A thread of its own: it works where nothing
/// else does any more.
final class Watchdog: Sendable {
    private let over = DispatchSemaphore(value: 0)
    private let gone = DispatchSemaphore(value: 0)

    /// Watches a round until `end`.
    init(_ round: ChaosRound, _ patience: Duration, replay: @escaping @Sendable () -> String) {
        let (over, gone) = (over, gone)
        Thread {
            while over.wait(timeout: .now() + .seconds(1)) == .timedOut {
                guard let hanging = round.hanging(longerThan: patience) else { continue }
                report("a request has no end: \(hanging)")
                report("to have it again: \(replay())")
                _exit(1)
            }
            gone.signal()
        }.start()
    }

    /// Watches no longer.
    func end() {
        over.signal()
        gone.wait()
    }
}
