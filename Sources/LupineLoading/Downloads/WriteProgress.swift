// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Decides when the written bytes of a download are reported to the delegate: at most every 50 ms, and all of them at the end
/// (U-7.10).
///
/// Waking the delegate's thread for each piece would cost more than writing the piece. A value type; time is an argument.
struct WriteProgress: Sendable {
    /// What the owner does after a piece was written.
    enum Step: Hashable, Sendable {
        /// Nothing: a report is scheduled already.
        case wait
        case reportNow
        case report(after: Interval)
    }

    /// The shortest time between two reports.
    static let interval = Interval.milliseconds(50)

    private var unreported: Int64 = 0
    private var isReportScheduled = false
    private var lastReport: Instant?

    /// Counts written bytes, and returns when to report them.
    mutating func wrote(_ count: Int, at now: Instant) -> Step {
        guard count > 0 else { return .wait }
        unreported += Int64(count)
        guard !isReportScheduled else { return .wait }
        isReportScheduled = true
        guard let lastReport, now < lastReport + Self.interval else { return .reportNow }
        return .report(after: lastReport + Self.interval - now)
    }

    /// Returns how many bytes to report now; nil if all have been reported.
    mutating func take(at now: Instant) -> Int64? {
        isReportScheduled = false
        guard unreported > 0 else { return nil }
        defer { unreported = 0 }
        lastReport = now
        return unreported
    }

    /// Whether there is nothing to report.
    var isEmpty: Bool { unreported == 0 }
}
