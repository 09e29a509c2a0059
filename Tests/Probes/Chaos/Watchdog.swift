// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineChaos

/// Ends the process with a report if a request of a round takes too long. It has its own thread, which works even if nothing else
/// does.
final class Watchdog: Sendable {
    private let over = DispatchSemaphore(value: 0)
    private let gone = DispatchSemaphore(value: 0)

    /// Watches a round until `end`.
    init(_ round: ChaosRound, _ limit: Duration, replay: @escaping @Sendable () -> String) {
        let (over, gone) = (over, gone)
        Thread {
            while over.wait(timeout: .now() + .seconds(1)) == .timedOut {
                guard let hanging = round.hanging(longerThan: limit) else { continue }
                report("a request has no end: \(hanging)")
                report("to have it again: \(replay())")
                _exit(1)
            }
            gone.signal()
        }.start()
    }

    /// Stops watching.
    func end() {
        over.signal()
        gone.wait()
    }
}
