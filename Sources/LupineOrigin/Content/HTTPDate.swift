// SPDX-License-Identifier: MIT

/// A date in the preferred format of HTTP (RFC 9110 section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
struct HTTPDate: Hashable {
    /// Seconds since 1970.
    let seconds: Int64

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Creates a date.
    init(seconds: Int64) { self.seconds = seconds }

    /// Parses the preferred format; nil for any other text.
    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), let year = Int64(parts[3]),
            let month = Self.months.firstIndex(of: String(parts[2]))
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard clock.count == 3, zip(clock, [24, 60, 60]).allSatisfy({ 0 <= $0 && $0 < $1 }),
            (1...31).contains(day), (1970...9999).contains(year)
        else { return nil }
        let days = Self.daysBefore(year: year, month: Int64(month + 1)) + day - 1
        seconds = days * 86_400 + clock[0] * 3_600 + clock[1] * 60 + clock[2]
        guard text == self.text else { return nil }
    }

    /// Returns the days from 1970 to the first of a month. Internally years begin in March, so that the leap day is the last day.
    private static func daysBefore(year: Int64, month: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    var text: String {
        let day = seconds / 86_400
        let time = seconds % 86_400
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let clock = [time / 3_600, time / 60 % 60, time % 60].map(Self.two).joined(separator: ":")
        let name = Self.days[Int(day % 7)]
        return "\(name), \(Self.two(dayOfMonth)) \(Self.months[Int(month - 1)]) \(year) \(clock) GMT"
    }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// The current date as octets, formatted at most once a second.
    struct Cached {
        private var seconds: Int64 = -1
        private var octets: [UInt8] = []

        mutating func text() -> [UInt8] {
            let now = WallClock.seconds()
            if now != seconds {
                seconds = now
                octets = Array(HTTPDate(seconds: now).text.utf8)
            }
            return octets
        }
    }
}
