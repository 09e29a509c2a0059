// SPDX-License-Identifier: MIT

internal import Foundation

/// Formats and parses dates.
enum DateText {
    /// Returns a date in the preferred format of HTTP (RFC 9110 §5.6.7).
    static func http(_ date: Date) -> String {
        formatter("EEE, dd MMM yyyy HH:mm:ss 'GMT'").string(from: date)
    }

    /// Returns the date that a text describes; nil if it is invalid. The text has one of HTTP's three formats, or a common format
    /// such as `2024-01-02 03:04`. The time zone is GMT unless the text names one.
    static func date(_ text: String) -> Date? {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        // Every format has digits, so a text without a digit cannot be a date. It may be a file name, which `-z` also accepts.
        guard trimmed.contains(where: \.isNumber) else { return nil }
        return formats.lazy.compactMap { formatter($0).date(from: trimmed) }.first
    }

    /// The formats in the notation of `DateFormatter`. The first three are those of HTTP.
    private static let formats = [
        "EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy",
        "yyyy-MM-dd",
        "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd HH:mm", "yyyy-MM-dd'T'HH:mm:ssXXX", "yyyyMMdd", "d MMM yyyy",
        "d MMM yyyy HH:mm:ss", "MMM d yyyy",
    ]

    private static func formatter(_ format: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = format
        return formatter
    }
}
