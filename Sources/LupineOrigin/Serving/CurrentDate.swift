// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The current date as the value of a `Date` field, formatted at most once a second.
struct CurrentDate {
    private var seconds: Int64 = -1
    private var octets: [UInt8] = []

    mutating func value() -> [UInt8] {
        let now = WallClock.seconds()
        if now != seconds {
            seconds = now
            octets = Array((HTTPDate.text(of: Int(now)) ?? "").utf8)
        }
        return octets
    }
}
