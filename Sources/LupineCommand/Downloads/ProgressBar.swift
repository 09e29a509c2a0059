// SPDX-License-Identifier: MIT

/// The progress of one transfer, formatted as a line of any width. It has no clock: its owner sets `elapsed`.
struct ProgressBar: Hashable, Sendable {
    var name: String
    /// The bytes that the file of a resumed download had before.
    var offset: Int64 = 0
    /// The bytes that this transfer has received or sent.
    var count: Int64 = 0
    /// The total size, `offset` included; nil if unknown.
    var total: Int64?
    /// The seconds since the start.
    var elapsed: Double = 0
    /// The text that says how the transfer ended; nil while it runs.
    var outcome: String?

    /// The sum of `offset` and `count`, or the maximum if it overflows.
    private var completed: Int64 {
        let (sum, overflows) = offset.addingReportingOverflow(count)
        return overflows ? .max : sum
    }

    /// The bytes per second.
    var rate: Double { count > 0 ? Double(count) / max(elapsed, 0.001) : 0 }

    /// The seconds until the transfer is complete; nil if unknown.
    var remaining: Double? {
        guard let total, rate > 0 else { return nil }
        return Double(max(0, total - completed)) / rate
    }

    /// The completed fraction, from 0 to 1; nil if the total is unknown.
    var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, Double(completed) / Double(total))
    }

    /// Returns the line for a terminal with this number of columns, which the line never exceeds. Non-ASCII characters are used
    /// only with `unicode`.
    func line(columns: Int, unicode: Bool, style: Style = Style(isOn: false)) -> TerminalText {
        let width = max(10, columns - 1)
        let speed = "\(ByteText.size(Int64(min(rate, 1e18))))/s"
        let amount = ByteText.size(completed)
        let tail: String
        if let outcome {
            tail = "\(amount)  \(speed)  \(outcome)"
        } else if let fraction {
            let percent = "\(Int(fraction * 100))%"
            let left = remaining.map { ByteText.clock($0) } ?? "--:--"
            tail = width < 50 ? "\(percent) \(speed) \(left)" : "\(percent)  \(amount)  \(speed)  ETA \(left)"
        } else {
            tail = width < 50 ? "\(amount) \(speed)" : "\(amount)  \(speed)  \(ByteText.clock(elapsed))"
        }
        let text = tail.count > width ? String(tail.prefix(width)) : tail
        let room = width - text.count - 1
        guard room >= 6 else { return "\(text)" }
        let label = TerminalFilter.line(name)
        let hasBar = fraction != nil && outcome == nil
        let labelWidth = min(label.count, hasBar ? max(6, room / 2) : room)
        var shortLabel = label
        if label.count > labelWidth {
            shortLabel = String(label.prefix(max(1, labelWidth - 1))) + (unicode ? "…" : "~")
        }
        let space = room - shortLabel.count - 1
        if let fraction, outcome == nil, space >= 8 {
            return "\(shortLabel) \(bar(fraction, width: space, unicode: unicode, style: style)) \(text)"
        }
        return "\((shortLabel + " ").padded(to: room + 1))\(text)"
    }

    /// Returns the bar in brackets.
    private func bar(_ fraction: Double, width: Int, unicode: Bool, style: Style) -> TerminalText {
        let inner = width - 2
        let filled = Int(fraction * Double(inner))
        let (full, empty) = unicode ? ("━", "─") : ("#", "-")
        let filledPart = String(repeating: full, count: filled)
        let emptyPart = String(repeating: empty, count: inner - filled)
        return "[\(style.paint(filledPart, .good))\(style.paint(emptyPart, .faint))]"
    }

    /// The line for an output that is not a terminal.
    var plainLine: TerminalText {
        let percent = fraction.map { " (\(Int($0 * 100))%)" } ?? ""
        let ending: String
        if let outcome {
            ending = ", \(outcome)"
        } else {
            ending = remaining.map { ", \(ByteText.clock($0)) left" } ?? ""
        }
        return
            "\(name): \(ByteText.size(completed))\(percent), \(ByteText.size(Int64(min(rate, 1e18))))/s\(ending)"
    }
}
