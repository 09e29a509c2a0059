// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Decides when the written bytes of a download are reported to the delegate: at most once in 50 ms, and all of them at the end
/// (U-7.10). A call for each piece would cost more than writing the piece.
///
/// A value type; the time is an argument.
struct WriteProgress: Sendable {
    /// What the owner does after a piece was written.
    enum Step: Hashable, Sendable {
        /// Nothing: the piece is empty, or a report is scheduled already.
        case wait
        /// Report the written bytes.
        case reportNow
        /// Report the written bytes after this time.
        case report(after: Interval)
    }

    /// The shortest time between two reports.
    static let interval = Interval.milliseconds(50)

    /// How many bytes were written and not reported.
    private var unreported: Int64 = 0
    private var isReportScheduled = false
    /// When bytes were last reported; nil before the first report.
    private var lastReport: Instant?

    /// Counts written bytes, and returns when to report them.
    mutating func countWritten(_ count: Int, at now: Instant) -> Step {
        guard count > 0 else { return .wait }
        unreported += Int64(count)
        guard !isReportScheduled else { return .wait }
        isReportScheduled = true
        guard let lastReport, now < lastReport + Self.interval else { return .reportNow }
        return .report(after: lastReport + Self.interval - now)
    }

    /// Returns how many bytes to report now, and counts them as reported. Returns nil if there are none.
    mutating func removeUnreported(at now: Instant) -> Int64? {
        isReportScheduled = false
        guard unreported > 0 else { return nil }
        defer { unreported = 0 }
        lastReport = now
        return unreported
    }

    /// Whether there is nothing to report.
    var isEmpty: Bool { unreported == 0 }
}
