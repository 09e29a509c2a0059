// SPDX-License-Identifier: MIT

internal import Glibc

/// The wall-clock time, for `Date` fields only. Unlike the loop's clock, it may jump.
enum WallClock {
    /// Returns the number of seconds since 1970.
    static func seconds() -> Int64 { Int64(time(nil)) }
}
