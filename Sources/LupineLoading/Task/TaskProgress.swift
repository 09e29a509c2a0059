// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// A task's progress, created when it is first asked for (U-6.8).
extension TaskCore {
    /// The counts to show in a progress: read under the lock, shown outside of it.
    struct TaskProgress: Sendable {
        let progress: Progress
        let counts: Counts

        /// Shows sent and received bytes together. The total is unknown if either part is, or if their sum overflows.
        func show() {
            assertNoLockIsHeld()
            let isKnown = counts.expectedToSend >= 0 && counts.expectedToReceive >= 0
            let total = isKnown ? Self.sum(counts.expectedToSend, counts.expectedToReceive) : nil
            progress.show(
                completed: Self.sum(counts.sent, counts.received) ?? .max,
                of: total ?? NSURLSessionTransferSizeUnknown)
        }

        private static func sum(_ sent: Int64, _ received: Int64) -> Int64? {
            let (sum, overflows) = sent.addingReportingOverflow(received)
            return overflows ? nil : sum
        }
    }

    static func progressUpdate(_ progress: Progress?, _ counts: Counts) -> TaskProgress? {
        guard let progress else { return nil }
        return TaskProgress(progress: progress, counts: counts)
    }

    /// The task's progress. Cancelling it cancels the task.
    var progress: Progress {
        let new = Progress(totalUnitCount: -1)
        new.cancellationHandler = { [weak self] in self?.cancel() }
        let (shown, isOver) = state.withLock { state in
            if state.progress == nil { state.progress = new }
            return (
                TaskProgress(progress: state.progress ?? new, counts: state.counts),
                state.machine.state == .completed
            )
        }
        if shown.progress === new {
            shown.show()
            if isOver { Self.complete(new) }
        }
        return shown.progress
    }

    /// Shows the progress as complete, whatever the total is.
    static func complete(_ progress: Progress) {
        if progress.totalUnitCount < 0 { progress.totalUnitCount = max(progress.completedUnitCount, 1) }
        progress.completedUnitCount = progress.totalUnitCount
    }
}
