// SPDX-License-Identifier: MIT

internal import Glibc

/// A time in seconds since 1970-01-01T00:00:00Z, the resolution of certificates and revocation answers.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// Seconds since the epoch; negative before it.
    public var seconds: Int64

    /// Creates the time this many seconds after the epoch.
    public init(seconds: Int64) { self.seconds = seconds }

    /// The current time of the system's clock.
    public static var now: UnixTime { UnixTime(seconds: Int64(time(nil))) }

    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }
}

/// Conversions to and from the Gregorian calendar, which is also applied to years before its introduction.
extension UnixTime: CustomStringConvertible {
    private static let secondsPerDay: Int64 = 86_400
    /// The days of an era of 400 years, after which the calendar repeats.
    private static let daysPerEra: Int64 = 146_097
    /// The days from 0000-03-01 to the epoch. In these calculations years begin in March, so that the leap day is the last day of
    /// its year.
    private static let daysToEpoch: Int64 = 719_468

    /// Creates the time with these calendar components in UTC. Nil when one is out of range, or the year is not between 0 and
    /// 9999. The second 60 is allowed, for leap seconds.
    init?(year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64) {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        let marchYear = month > 2 ? year : year - 1
        // The only negative year is -1, for January and February of the year 0.
        let era = marchYear >= 0 ? marchYear / 400 : -1
        let yearOfEra = marchYear - era * 400
        // From March on, every five months have 153 days. Integer division distributes the months of 31 days correctly.
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * UnixTime.daysPerEra + dayOfEra - UnixTime.daysToEpoch
        self.init(seconds: days * UnixTime.secondsPerDay + hour * 3600 + minute * 60 + second)
    }

    /// The ISO 8601 form: `2099-12-31T23:59:59Z`.
    public var description: String {
        // The quotient is rounded towards zero, so a negative remainder belongs to the day (or era) before.
        var (days, secondOfDay) = seconds.quotientAndRemainder(dividingBy: UnixTime.secondsPerDay)
        if secondOfDay < 0 { (days, secondOfDay) = (days - 1, secondOfDay + UnixTime.secondsPerDay) }
        var (eras, dayOfEra) = (days + UnixTime.daysToEpoch).quotientAndRemainder(
            dividingBy: UnixTime.daysPerEra)
        if dayOfEra < 0 { (eras, dayOfEra) = (eras - 1, dayOfEra + UnixTime.daysPerEra) }
        // Subtracts the leap days, so that every year has 365: one in 1461 days, except in a century of 36,524 days, but again in
        // the last year of the era.
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + eras * 400 + (month <= 2 ? 1 : 0)
        let sign = year < 0 ? "-" : ""
        let date = [sign + padded(abs(year), 4), padded(month, 2), padded(day, 2)].joined(separator: "-")
        let time = [secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60]
            .map { padded($0, 2) }.joined(separator: ":")
        return "\(date)T\(time)Z"
    }

    /// Returns the number with leading zeros, at least `width` digits.
    private func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
