// SPDX-License-Identifier: MIT

/// Formats sizes and times for people.
enum ByteText {
    /// Formats a number of bytes: `512 B`, `1.5 KiB`, `12.3 MiB`.
    static func size(_ count: Int64) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var value = Double(max(0, count))
        var unit = 0
        // One decimal place would show 1023.95 as 1024.0.
        while value >= 1023.95, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return unit == 0 ? "\(max(0, count)) B" : "\(oneDecimal(value)) \(units[unit])"
    }

    /// Formats a time in hours, minutes and seconds: `0:07`, `12:34`, `1:02:03`. A time of 100 hours or more is shown as `--:--`.
    static func clock(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 100 * 3600 else { return "--:--" }
        let whole = Int(seconds.rounded())
        let twoDigits = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        let secondDigits = twoDigits(whole % 60)
        if hours == 0 { return "\(minutes):\(secondDigits)" }
        return "\(hours):\(twoDigits(minutes)):\(secondDigits)"
    }

    /// Formats a duration: `0.42 ms`, `12.3 ms`, `1.24 s`.
    static func duration(_ seconds: Double) -> String {
        let milliseconds = seconds * 1000
        // The limits are the first values that would be rounded to 10.00 and 1000.0.
        if milliseconds < 9.995 { return "\(decimals(milliseconds, 2)) ms" }
        if milliseconds < 999.5 { return "\(oneDecimal(milliseconds)) ms" }
        return "\(decimals(seconds, 2)) s"
    }

    /// Formats a number with one decimal place.
    static func oneDecimal(_ value: Double) -> String { decimals(value, 1) }

    /// Formats a number with this number of decimal places; `?` for a number from 10¹² on, or not a number.
    static func decimals(_ value: Double, _ places: Int) -> String {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        guard value.isFinite, value.magnitude < 1e12 else { return "?" }
        let scaled = Int64((value.magnitude * scale).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        let (integer, fraction) = scaled.quotientAndRemainder(dividingBy: Int64(scale))
        if places == 0 { return "\(sign)\(integer)" }
        let digits = "\(fraction)"
        return "\(sign)\(integer)." + String(repeating: "0", count: places - digits.count) + digits
    }
}
