// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// How much of a task's body and content has been transferred: the byte counts, the progress object that shows them (U-6.8), and
/// the bytes of the body that are still to be reported to the delegate (U-7.7).
///
/// A value under the task's lock. A change of the counts returns the update of the progress object, which the task applies
/// outside of the lock.
struct TaskTransfer: Sendable {
    /// The byte counts that the program can read.
    struct Counts: Sendable {
        /// The number of bytes of content that have been received.
        var received: Int64 = 0
        /// The number of bytes of the body that have been sent.
        var sent: Int64 = 0
        /// The length of the content; -1 if it is unknown.
        var expectedToReceive: Int64 = NSURLSessionTransferSizeUnknown
        /// The length of the body; -1 if it is unknown.
        var expectedToSend: Int64 = 0
    }

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

    /// Bytes of the body that have been sent since the last report.
    struct SentReport: Sendable {
        let newBytes: Int64
        let total: Int64
        let expected: Int64

        /// Calls the delegate.
        func deliver(_ context: CallbackContext) {
            context.delegates.task?.urlSession(
                context.session, task: context.task, didSendBodyData: newBytes, totalBytesSent: total,
                totalBytesExpectedToSend: expected)
        }
    }

    private(set) var counts: Counts
    /// The progress object; nil until the program reads it.
    private(set) var progress: Progress?
    /// Whether sent bytes are still to be reported to the delegate.
    private var needsReport = false
    /// The number of bytes of the body that has been reported to the delegate.
    private var reportedBytes: Int64 = 0

    /// Creates the counts of a task whose body has `bodyLength` bytes; -1 if that is unknown.
    init(bodyLength: Int64) { counts = Counts(expectedToSend: bodyLength) }

    /// The update of the progress object to the present counts; nil without a progress object.
    private var update: ProgressUpdate? {
        guard let progress else { return nil }
        return ProgressUpdate(progress: progress, counts: counts)
    }

    /// Stores the length of the content.
    mutating func expectContent(ofLength length: Int64) -> ProgressUpdate? {
        counts.expectedToReceive = length
        return update
    }

    /// Adds received bytes.
    mutating func received(_ bytes: Int) -> ProgressUpdate? {
        counts.received += Int64(bytes)
        return update
    }

    /// Stores the number of sent bytes and the length of the body. Returns also whether a report has to be queued. If one is
    /// queued already, it includes these bytes.
    mutating func sent(_ total: Int64, of expected: Int64) -> (needsReport: Bool, ProgressUpdate?) {
        counts.sent = total
        counts.expectedToSend = expected
        defer { needsReport = true }
        return (!needsReport, update)
    }

    /// Adds bytes that a stream task has received and sent. They are not reported to the delegate.
    mutating func streamed(received: Int, sent: Int) {
        counts.received += Int64(received)
        counts.sent += Int64(sent)
    }

    /// Removes and returns the report of the bytes that were sent since the last one; nil if there are none.
    mutating func takeReport() -> SentReport? {
        guard needsReport else { return nil }
        needsReport = false
        defer { reportedBytes = counts.sent }
        // A smaller total than before means that the body is sent again from its beginning.
        let newBytes = counts.sent >= reportedBytes ? counts.sent - reportedBytes : counts.sent
        return SentReport(newBytes: newBytes, total: counts.sent, expected: counts.expectedToSend)
    }

    /// Stores `newProgress`, unless there is a progress object. Returns the progress object and its counts.
    mutating func show(in newProgress: Progress) -> ProgressUpdate {
        let progress = progress ?? newProgress
        self.progress = progress
        return ProgressUpdate(progress: progress, counts: counts)
    }
}
