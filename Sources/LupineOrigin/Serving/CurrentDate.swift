// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The current date as the value of a `Date` field, formatted at most once a second.
struct CurrentDate {
    /// The time of `octets`, in seconds since 1970; -1 before the first call.
    private var seconds: Int64 = -1
    /// The formatted date.
    private var octets: [UInt8] = []

    /// Returns the current date in the format of RFC 9110 §5.6.7.
    mutating func fieldValue() -> [UInt8] {
        let now = WallClock.seconds()
        if now != seconds {
            seconds = now
            octets = Array((HTTPDate.text(of: Int(now)) ?? "").utf8)
        }
        return octets
    }
}
