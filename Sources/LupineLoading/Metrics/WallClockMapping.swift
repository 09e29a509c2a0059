// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Converts instants of the monotonic clock to dates.
///
/// All instants of a task are converted relative to one pair of an instant and a date, which preserves their order (U-19.1). If
/// the wall clock was set during the task, a date may be outside of the measured interval. It is then clamped to the interval,
/// which also preserves the order.
struct WallClockMapping {
    private let instant: Instant
    private let date: Date

    /// Creates the mapping of a wall clock that shows `date` at `instant`.
    init(_ instant: Instant, at date: Date) {
        self.instant = instant
        self.date = date
    }

    /// Returns the date of an instant, clamped to `bounds`; nil if `instant` is nil.
    func date(of instant: Instant?, within bounds: ClosedRange<Date>) -> Date? {
        guard let instant else { return nil }
        return date.addingTimeInterval(Double((instant - self.instant).nanoseconds) / 1e9).clamped(to: bounds)
    }
}

extension Date {
    /// Returns the date in `bounds` that is nearest to this one.
    func clamped(to bounds: ClosedRange<Date>) -> Date {
        min(max(self, bounds.lowerBound), bounds.upperBound)
    }
}
