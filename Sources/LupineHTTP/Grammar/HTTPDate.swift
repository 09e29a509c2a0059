// SPDX-License-Identifier: MIT

/// Reads and writes dates in header fields, as seconds since 1970.
///
/// It reads dates by the algorithm of RFC 6265 §5.1.1, which accepts the three forms of RFC 9110 §5.6.7 and many others that
/// occur in cookies. It writes dates in the form that RFC 9110 requires. Every time counts as UTC, even if the text names another
/// zone.
package enum HTTPDate {
    /// The days of the week, beginning with that of 1970-01-01.
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The most octets of a date. Longer text is not read, which bounds the work: each word costs more than its octets.
    private static let maximumLength = 128

    /// Parses a date, and returns its time; nil if `text` is no date.
    package static func seconds(of text: String) -> Int? {
        let octets = text.utf8.span
        guard octets.count <= maximumLength else { return nil }
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        var end = 0
        while let start = index(from: end, in: octets, where: { !isDelimiter($0) }) {
            end = index(from: start, in: octets, where: isDelimiter) ?? octets.count
            let token = octets.extracting(start..<end)
            if time == nil, let found = parseTime(token) {
                time = found
            } else if day == nil, let found = parseNumber(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = parseMonth(token) {
                month = found
            } else if year == nil, let found = parseNumber(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if 70...99 ~= year { year += 1_900 } else if 0...69 ~= year { year += 2_000 }
        // The least year is that of RFC 6265 §5.1.1.
        guard year >= 1_601, day >= 1, day <= length(ofMonth: month, in: year),
            time.hour <= 23, time.minute <= 59, time.second <= 59
        else { return nil }
        let seconds = time.hour * 3_600 + time.minute * 60 + time.second
        return daysSince1970(year, month, day) * 86_400 + seconds
    }

    /// Returns a time as in `Sun, 06 Nov 1994 08:49:37 GMT`; nil before the year 1 and after 9999.
    package static func text(of seconds: Int) -> String? {
        guard (-62_135_596_800..<253_402_300_800).contains(seconds) else { return nil }
        // Rounded down, also for negative times.
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let time = seconds - day * 86_400
        let date = civilDate(day)
        let twoDigits = { (number: Int) in (number < 10 ? "0" : "") + String(number) }
        let year = String(repeating: "0", count: 4 - String(date.year).count) + String(date.year)
        return "\(days[((day % 7) + 7) % 7]), \(twoDigits(date.day)) \(months[date.month - 1]) \(year) "
            + "\(twoDigits(time / 3_600)):\(twoDigits(time / 60 % 60)):\(twoDigits(time % 60)) GMT"
    }

    // MARK: Tokens

    /// The index of the first octet at or after `start` that satisfies `isWanted`.
    private static func index(
        from start: Int, in octets: Span<UInt8>, where isWanted: (UInt8) -> Bool
    ) -> Int? {
        var index = start
        while index < octets.count, !isWanted(octets[index]) { index += 1 }
        return index < octets.count ? index : nil
    }

    /// Whether an octet separates words: one of the `delimiter` octets of RFC 6265 §5.1.1, which do not include the colon.
    private static func isDelimiter(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Parses the number at the start of a token; nil unless the count of its digits is in `digits`.
    private static func parseNumber(_ token: Span<UInt8>, digits: ClosedRange<Int>) -> Int? {
        var (count, number) = (0, 0)
        while count < token.count, 0x30...0x39 ~= token[count] {
            if count == digits.upperBound { return nil }
            number = number * 10 + Int(token[count] - 0x30)
            count += 1
        }
        return count >= digits.lowerBound ? number : nil
    }

    /// Parses a time such as `08:49:37` at the start of a token.
    private static func parseTime(_ token: Span<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
        let isColon = { (octet: UInt8) in octet == Octet.colon }
        guard let first = index(from: 0, in: token, where: isColon),
            let second = index(from: first + 1, in: token, where: isColon)
        else { return nil }
        let (hours, minutes) = (token.extracting(..<first), token.extracting((first + 1)..<second))
        // Only the seconds may be followed by other octets.
        guard 1...2 ~= hours.count, let hour = parseNumber(hours, digits: hours.count...hours.count),
            1...2 ~= minutes.count, let minute = parseNumber(minutes, digits: minutes.count...minutes.count),
            let seconds = parseNumber(token.extracting((second + 1)...), digits: 1...2)
        else { return nil }
        return (hour, minute, seconds)
    }

    /// Returns the month, 1 to 12, whose name begins the token.
    private static func parseMonth(_ token: Span<UInt8>) -> Int? {
        guard token.count >= 3 else { return nil }
        return months.firstIndex { name in
            let name = name.utf8.span
            return name.indices.allSatisfy { name[$0] | 0x20 == token[$0] | 0x20 }
        }.map { $0 + 1 }
    }

    // MARK: Calendar

    private static func length(ofMonth month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the number of days from 1970-01-01 to a date. Years begin in March here, so that the leap day is the last day of
    /// its year; an era is 400 years or 146,097 days, after which the calendar repeats. 719,468 days are from 0000-03-01 to
    /// 1970-01-01. From March on, five months have 153 days, and rounding distributes the months of 31 days.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let marchYear = month <= 2 ? year - 1 : year
        let era = marchYear / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the date that is so many days after 1970-01-01, the inverse of `daysSince1970`. Before dividing by 365, subtracts
    /// the leap days of the era: one in 4 years, none at the end of a century, but one at the end of the era.
    private static func civilDate(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let shiftedDay = day + 719_468
        let era = (shiftedDay >= 0 ? shiftedDay : shiftedDay - 146_096) / 146_097
        let dayOfEra = shiftedDay - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}
