// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Converts points on the monotonic clock to dates.
///
/// All points of a task are converted relative to one anchor, which preserves their order (U-19.1). A date that a step of the
/// wall clock would move outside of the measured interval is clamped to it, which also preserves the order.
struct WallClockMapping {
    private let instant: Instant
    private let date: Date

    /// Creates a clock that shows `date` at `instant`.
    init(_ instant: Instant, at date: Date) {
        self.instant = instant
        self.date = date
    }

    /// Returns the date of a point, clamped to `bounds`; nil for none.
    func date(of point: Instant?, within bounds: ClosedRange<Date>) -> Date? {
        guard let point else { return nil }
        return date.addingTimeInterval(Double((point - instant).nanoseconds) / 1e9).clamped(to: bounds)
    }
}

extension Date {
    /// Returns the date in `bounds` that is nearest to this one.
    func clamped(to bounds: ClosedRange<Date>) -> Date {
        min(max(self, bounds.lowerBound), bounds.upperBound)
    }
}
