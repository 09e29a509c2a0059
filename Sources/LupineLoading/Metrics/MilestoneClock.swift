// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Shows points on the monotonic clock as dates.
///
/// All points of a task go through one anchor, so that their order stays as it was (U-19.1). What a step of the wall clock
/// would push outside of the time that something took is held at its ends, which keeps the order too.
struct MilestoneClock {
    private let instant: Instant
    private let date: Date

    /// A clock that shows `date` at `instant`.
    init(_ instant: Instant, at date: Date) {
        self.instant = instant
        self.date = date
    }

    /// The date of a point, no earlier and no later than `bounds`; nil for none.
    func date(of point: Instant?, within bounds: ClosedRange<Date>) -> Date? {
        guard let point else { return nil }
        return date.addingTimeInterval(Double((point - instant).nanoseconds) / 1e9).clamped(to: bounds)
    }
}

extension Date {
    /// The date of `bounds` that is nearest.
    func clamped(to bounds: ClosedRange<Date>) -> Date {
        min(max(self, bounds.lowerBound), bounds.upperBound)
    }
}
