// SPDX-License-Identifier: MIT

/// A moment in seconds since 1970-01-01T00:00:00Z, as certificates and revocation answers count time.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// Seconds since the epoch; negative before it.
    public var seconds: Int64

    /// So many seconds after the epoch.
    public init(seconds: Int64) { self.seconds = seconds }

    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }
}
