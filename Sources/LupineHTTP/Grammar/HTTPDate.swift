// SPDX-License-Identifier: MIT

/// Converts dates in header fields to seconds since 1970-01-01 00:00 UTC, and back.
///
/// `seconds(of:)` reads dates by the algorithm of RFC 6265 §5.1.1. The algorithm accepts the three forms of RFC 9110 §5.6.7 and
/// many others that occur in cookies. `text(of:)` writes the form that RFC 9110 requires. Every time counts as UTC, even if the
/// text names another zone.
package enum HTTPDate {
    /// The days of the week, beginning with Thursday, because 1970-01-01 was one.
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The maximum length of a date in octets. `seconds(of:)` refuses longer text, which bounds its work on a peer's input.
    private static let maximumLength = 128

    /// Returns the seconds from 1970 to a date, or nil if `text` is not a date.
    package static func seconds(of text: String) -> Int? {
        let octets = text.utf8.span
        guard octets.count <= maximumLength else { return nil }
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        var end = 0
        // Each token becomes the first of time, day, month and year that is still missing and that the token can be, as RFC 6265
        // §5.1.1 requires. Any other token, such as a day of the week, is ignored.
        while let start = index(from: end, in: octets, where: { !isDelimiter($0) }) {
            end = index(from: start, in: octets, where: isDelimiter) ?? octets.count
            let token = octets.extracting(start..<end)
            if time == nil, let tokenTime = parseTime(token) {
                time = tokenTime
            } else if day == nil, let tokenDay = parseNumber(token, digits: 1...2) {
                day = tokenDay
            } else if month == nil, let tokenMonth = parseMonth(token) {
                month = tokenMonth
            } else if year == nil, let tokenYear = parseNumber(token, digits: 2...4) {
                year = tokenYear
            }
        }
        guard let time, let day, let month, var year else { return nil }
        // A year of two digits is one of 1970 to 2069.
        if 70...99 ~= year { year += 1_900 } else if 0...69 ~= year { year += 2_000 }
        // RFC 6265 §5.1.1 refuses years before 1601, and days and times that do not exist.
        guard year >= 1_601, day >= 1, day <= length(ofMonth: month, in: year),
            time.hour <= 23, time.minute <= 59, time.second <= 59
        else { return nil }
        let seconds = time.hour * 3_600 + time.minute * 60 + time.second
        return daysSince1970(year, month, day) * 86_400 + seconds
    }

    /// Returns a time in the form `Sun, 06 Nov 1994 08:49:37 GMT`, or nil if its year is not in 1...9999.
    package static func text(of seconds: Int) -> String? {
        // From 0001-01-01 00:00:00 to 9999-12-31 23:59:59.
        guard (-62_135_596_800..<253_402_300_800).contains(seconds) else { return nil }
        // The number of whole days since 1970, rounded down also for negative times.
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let time = seconds - day * 86_400
        let date = civilDate(day)
        let twoDigits = { (number: Int) in (number < 10 ? "0" : "") + String(number) }
        let fourDigitYear = String(repeating: "0", count: 4 - String(date.year).count) + String(date.year)
        let dayOfWeek = ((day % 7) + 7) % 7
        return "\(days[dayOfWeek]), \(twoDigits(date.day)) \(months[date.month - 1]) \(fourDigitYear) "
            + "\(twoDigits(time / 3_600)):\(twoDigits(time / 60 % 60)):\(twoDigits(time % 60)) GMT"
    }

    // MARK: Tokens

    /// Returns the index of the first octet at or after `start` that satisfies `predicate`, or nil.
    private static func index(
        from start: Int, in octets: Span<UInt8>, where predicate: (UInt8) -> Bool
    ) -> Int? {
        var index = start
        while index < octets.count, !predicate(octets[index]) { index += 1 }
        return index < octets.count ? index : nil
    }

    /// Whether an octet separates tokens: it is a `delimiter` of RFC 6265 §5.1.1. The colon is not one of them, because
    /// it is part of a time.
    private static func isDelimiter(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Returns the number at the start of a token, or nil unless the number of its digits is in `digits`. Other octets may follow
    /// the digits.
    private static func parseNumber(_ token: Span<UInt8>, digits: ClosedRange<Int>) -> Int? {
        var (count, number) = (0, 0)
        while count < token.count, let digit = Octet.decimal(token[count]) {
            if count == digits.upperBound { return nil }
            number = number * 10 + Int(digit)
            count += 1
        }
        return count >= digits.lowerBound ? number : nil
    }

    /// Parses a time such as `08:49:37` at the start of a token. Returns nil if the token begins with no time; the caller checks
    /// that the numbers are in range.
    private static func parseTime(_ token: Span<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
        let isColon = { (octet: UInt8) in octet == Octet.colon }
        guard let firstColon = index(from: 0, in: token, where: isColon),
            let secondColon = index(from: firstColon + 1, in: token, where: isColon)
        else { return nil }
        let hours = token.extracting(..<firstColon)
        let minutes = token.extracting((firstColon + 1)..<secondColon)
        // Only the seconds may be followed by other octets: hours and minutes must have as many digits as octets.
        guard 1...2 ~= hours.count, let hour = parseNumber(hours, digits: hours.count...hours.count),
            1...2 ~= minutes.count, let minute = parseNumber(minutes, digits: minutes.count...minutes.count),
            let second = parseNumber(token.extracting((secondColon + 1)...), digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    /// Returns the month, 1 to 12, with whose name the token begins, or nil. Compares case-insensitively.
    private static func parseMonth(_ token: Span<UInt8>) -> Int? {
        guard token.count >= 3 else { return nil }
        let name = lowercaseName(token[0], token[1], token[2])
        return lowercaseMonths.firstIndex(of: name).map { $0 + 1 }
    }

    /// The months in lower case; numbers are compared faster than texts.
    private static let lowercaseMonths = months.map { month in
        let octets = Array(month.utf8)
        return lowercaseName(octets[0], octets[1], octets[2])
    }

    /// Returns three letters in lower case as one number.
    private static func lowercaseName(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> UInt32 {
        // 0x20 is the bit in which lower-case letters differ from capitals.
        UInt32(first | 0x20) << 16 | UInt32(second | 0x20) << 8 | UInt32(third | 0x20)
    }

    // MARK: Calendar

    /// Returns the number of days of a month, which depends on the year for February.
    private static func length(ofMonth month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the number of days from 1970-01-01 to a date.
    ///
    /// The calculation lets years begin in March, so that the leap day is the last day of a year. An era is 400 years or 146,097
    /// days, after which the calendar repeats. From 0000-03-01 to 1970-01-01 there are 719,468 days. From March on, any five
    /// months in a row have 153 days, and the division by 5 rounds so that each month gets its 30 or 31 days.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // The year that began in the last March.
        let marchYear = month <= 2 ? year - 1 : year
        let era = marchYear / 400
        let yearOfEra = marchYear - era * 400
        // The months count from March: 0 for March, 11 for February.
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the date that is `daysSince1970` days after 1970-01-01: the inverse of `daysSince1970(_:_:_:)`, whose comment
    /// explains the numbers.
    private static func civilDate(_ daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        let daysSince0000 = daysSince1970 + 719_468
        // Rounded down, also for negative numbers.
        let era = (daysSince0000 >= 0 ? daysSince0000 : daysSince0000 - 146_096) / 146_097
        let dayOfEra = daysSince0000 - era * 146_097
        // Subtracts the leap days of the era, so that all years have 365 days. There is one in 4 years (day 1,460), none at the
        // end of a century (36,524 days), but one at the end of the era (day 146,096).
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // The number of months since March.
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}
