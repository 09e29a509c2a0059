// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// A task's progress, created when the program first reads it (U-6.8).
extension TaskCore {
    /// A progress object and the counts to set in it. The counts are read under the lock and set outside of it, because observers
    /// of the object are the program's code.
    struct TaskProgress: Sendable {
        let progress: Progress
        let counts: Counts

        /// Sets the sum of sent and received bytes. The total is unknown if either part is unknown or their sum overflows.
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

    /// Returns the counts to set in `progress`; nil without a progress object.
    static func progressUpdate(_ progress: Progress?, _ counts: Counts) -> TaskProgress? {
        guard let progress else { return nil }
        return TaskProgress(progress: progress, counts: counts)
    }

    /// The task's progress. Cancelling it cancels the task.
    var progress: Progress {
        let new = Progress(totalUnitCount: NSURLSessionTransferSizeUnknown)
        new.cancellationHandler = { [weak self] in self?.cancel() }
        let (update, isCompleted) = state.withLock { state in
            if state.progress == nil { state.progress = new }
            return (
                TaskProgress(progress: state.progress ?? new, counts: state.counts),
                state.machine.state == .completed
            )
        }
        // Otherwise another read has created the object before.
        if update.progress === new {
            update.show()
            if isCompleted { Self.complete(new) }
        }
        return update.progress
    }

    /// Sets the progress to its total, or to the completed count if the total is unknown.
    static func complete(_ progress: Progress) {
        // `Progress` traps when the total becomes 0.
        if progress.totalUnitCount < 0 { progress.totalUnitCount = max(progress.completedUnitCount, 1) }
        progress.completedUnitCount = progress.totalUnitCount
    }
}
