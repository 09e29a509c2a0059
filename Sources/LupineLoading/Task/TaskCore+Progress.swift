// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The progress object of a task, created when the program first reads it (U-6.8).
extension TaskCore {
    /// A progress object and the counts to set in it. They are read under the task's lock and set outside of it, because
    /// observers of the object are code of the program.
    struct ProgressUpdate: Sendable {
        let progress: Progress
        let counts: Counts

        /// Sets the sum of the sent and received bytes, and the sum of the expected bytes. The sum of the expected
        /// bytes is unknown if one of its summands is unknown or if it overflows.
        func apply() {
            assertNoLockIsHeld()
            let isKnown = counts.expectedToSend >= 0 && counts.expectedToReceive >= 0
            let total = isKnown ? Self.sum(counts.expectedToSend, counts.expectedToReceive) : nil
            progress.setCounts(
                completed: Self.sum(counts.sent, counts.received) ?? .max,
                of: total ?? NSURLSessionTransferSizeUnknown)
        }

        /// Returns the sum; nil if it overflows.
        private static func sum(_ sent: Int64, _ received: Int64) -> Int64? {
            let (sum, overflows) = sent.addingReportingOverflow(received)
            return overflows ? nil : sum
        }
    }

    /// Returns the counts to set in `progress`; nil without a progress object.
    static func progressUpdate(_ progress: Progress?, _ counts: Counts) -> ProgressUpdate? {
        guard let progress else { return nil }
        return ProgressUpdate(progress: progress, counts: counts)
    }

    /// The task's progress. Cancelling it cancels the task.
    var progress: Progress {
        let newProgress = Progress(totalUnitCount: NSURLSessionTransferSizeUnknown)
        newProgress.cancellationHandler = { [weak self] in self?.cancel() }
        let (update, isCompleted) = state.withLock { state in
            if state.progress == nil { state.progress = newProgress }
            return (
                ProgressUpdate(progress: state.progress ?? newProgress, counts: state.counts),
                state.machine.state == .completed
            )
        }
        // If an earlier read has created the object, its counts are up to date.
        if update.progress === newProgress {
            update.apply()
            if isCompleted { Self.complete(newProgress) }
        }
        return update.progress
    }

    /// Sets the completed count to the total. If the total is unknown, sets the total to the completed count first.
    static func complete(_ progress: Progress) {
        // The total is at least 1, because `Progress` traps when the total becomes 0.
        if progress.totalUnitCount < 0 { progress.totalUnitCount = max(progress.completedUnitCount, 1) }
        progress.completedUnitCount = progress.totalUnitCount
    }
}
