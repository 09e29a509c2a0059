// SPDX-License-Identifier: MIT

internal import Glibc

/// The time of day, for the `Date` field only, which need not be exact.
enum WallClock {
    /// Seconds since 1970.
    static func seconds() -> Int64 { Int64(time(nil)) }
}
