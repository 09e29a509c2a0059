// SPDX-License-Identifier: MIT

/// One line about a transfer, for any width. It only draws what it is given and has no clock.
struct ProgressBar: Hashable, Sendable {
    var name: String
    /// Bytes that the file had before, if the download is resumed.
    var offset: Int64 = 0
    /// Bytes received, or sent, in this transfer.
    var count: Int64 = 0
    /// The total size, `offset` included; nil if unknown.
    var total: Int64?
    /// Seconds since the start.
    var elapsed: Double = 0
    /// How the transfer ended; nil while it runs.
    var end: String?

    /// Bytes so far. Saturates, since `offset` and `count` may overflow.
    private var done: Int64 {
        let (sum, overflows) = offset.addingReportingOverflow(count)
        return overflows ? .max : sum
    }

    /// Bytes per second.
    var rate: Double { count > 0 ? Double(count) / max(elapsed, 0.001) : 0 }

    /// Seconds left; nil if unknown.
    var remaining: Double? {
        guard let total, rate > 0 else { return nil }
        return Double(max(0, total - done)) / rate
    }

    /// The completed fraction, from 0 to 1.
    var share: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, Double(done) / Double(total))
    }

    /// Returns the line for a terminal of that width; never wider.
    func line(columns: Int, unicode: Bool, style: Style = Style(isOn: false)) -> TerminalText {
        let width = max(10, columns - 1)
        let speed = "\(ByteText.size(Int64(min(rate, 1e18))))/s"
        let amount = ByteText.size(done)
        let tail: String
        if let end {
            tail = "\(amount)  \(speed)  \(end)"
        } else if let share {
            let percent = "\(Int(share * 100))%"
            let left = remaining.map { ByteText.clock($0) } ?? "--:--"
            tail = width < 50 ? "\(percent) \(speed) \(left)" : "\(percent)  \(amount)  \(speed)  ETA \(left)"
        } else {
            tail = width < 50 ? "\(amount) \(speed)" : "\(amount)  \(speed)  \(ByteText.clock(elapsed))"
        }
        let text = tail.count > width ? String(tail.prefix(width)) : tail
        let room = width - text.count - 1
        guard room >= 6 else { return "\(text)" }
        let label = TerminalFilter.line(name)
        let shown = share == nil || end != nil ? min(label.count, room) : min(label.count, max(6, room / 2))
        let cut =
            label.count > shown ? String(label.prefix(max(1, shown - 1))) + (unicode ? "…" : "~") : label
        let space = room - cut.count - 1
        if let share, end == nil, space >= 8 {
            return "\(cut) \(bar(share, width: space, unicode: unicode, style: style)) \(text)"
        }
        return "\((cut + " ").padded(to: room + 1))\(text)"
    }

    private func bar(_ share: Double, width: Int, unicode: Bool, style: Style) -> TerminalText {
        let inner = width - 2
        let filled = Int(share * Double(inner))
        let (full, empty) = unicode ? ("━", "─") : ("#", "-")
        let done = String(repeating: full, count: filled)
        let left = String(repeating: empty, count: inner - filled)
        return "[\(style.paint(done, .good))\(style.paint(left, .faint))]"
    }

    /// The line for an output that is not a terminal.
    var plain: TerminalText {
        let percent = share.map { " (\(Int($0 * 100))%)" } ?? ""
        let left = end == nil ? remaining.map { ", \(ByteText.clock($0)) left" } ?? "" : ", \(end ?? "")"
        return
            "\(name): \(ByteText.size(done))\(percent), \(ByteText.size(Int64(min(rate, 1e18))))/s\(left)"
    }
}
