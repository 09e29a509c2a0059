// SPDX-License-Identifier: MIT

/// The progress of one transfer, formatted as a line of any width. It has no clock: `ProgressBoard` sets `elapsed`.
struct ProgressBar: Hashable, Sendable {
    /// The fewest columns for the name in a line.
    private static let minimumNameWidth = 6
    /// The fewest columns for the bar in a line, with its brackets.
    private static let minimumBarWidth = 8

    /// The name of the file or the host, as a server or the user has chosen it.
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
    private var completedBytes: Int64 {
        let (sum, overflows) = offset.addingReportingOverflow(count)
        return overflows ? .max : sum
    }

    /// The bytes per second.
    var rate: Double { count > 0 ? Double(count) / max(elapsed, 0.001) : 0 }

    /// The seconds until the transfer is complete; nil if unknown.
    var remainingSeconds: Double? {
        guard let total, rate > 0 else { return nil }
        return Double(max(0, total - completedBytes)) / rate
    }

    /// The completed fraction, from 0 to 1; nil if the total is unknown.
    var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, Double(completedBytes) / Double(total))
    }

    /// Returns the line for a terminal: the name, the bar and the figures, as far as there are columns for them.
    ///
    /// - Parameters:
    ///   - columns: The width of the terminal. The line stays shorter, unless the terminal has fewer than 11 columns.
    ///   - usesUnicode: Whether the line may contain characters other than ASCII.
    ///   - style: The colours.
    func line(
        columns: Int, unicode usesUnicode: Bool, style: Style = Style(isOn: false)
    ) -> TerminalText {
        // The last column stays empty, since some terminals would wrap the line.
        let width = max(10, columns - 1)
        let isNarrow = width < 50
        let amount = ByteText.size(completedBytes)
        let figures: String
        if let outcome {
            figures = "\(amount)  \(speed)  \(outcome)"
        } else if let fraction {
            let percent = "\(Int(fraction * 100))%"
            let timeLeft = remainingSeconds.map { ByteText.clock($0) } ?? "--:--"
            figures =
                isNarrow
                ? "\(percent) \(speed) \(timeLeft)"
                : "\(percent)  \(amount)  \(speed)  ETA \(timeLeft)"
        } else {
            figures = isNarrow ? "\(amount) \(speed)" : "\(amount)  \(speed)  \(ByteText.clock(elapsed))"
        }
        let shortFigures = figures.count > width ? String(figures.prefix(width)) : figures
        // The columns for the name and the bar, before the figures and a space.
        let leadingWidth = width - shortFigures.count - 1
        guard leadingWidth >= Self.minimumNameWidth else { return "\(shortFigures)" }
        // The name as it is shown on a terminal.
        let label = TerminalFilter.line(name)
        // A bar is drawn if the label leaves enough columns for it.
        let mayHaveBar = fraction != nil && outcome == nil
        let maximumLabelWidth = mayHaveBar ? max(Self.minimumNameWidth, leadingWidth / 2) : leadingWidth
        let labelWidth = min(label.count, maximumLabelWidth)
        var shortLabel = label
        if label.count > labelWidth {
            shortLabel = String(label.prefix(max(1, labelWidth - 1))) + (usesUnicode ? "…" : "~")
        }
        let barWidth = leadingWidth - shortLabel.count - 1
        if mayHaveBar, let fraction, barWidth >= Self.minimumBarWidth {
            let bar = bar(fraction, width: barWidth, usesUnicode: usesUnicode, style: style)
            return "\(shortLabel) \(bar) \(shortFigures)"
        }
        // Without a bar, spaces after the label move the figures to the right end of the line.
        return "\((shortLabel + " ").padded(to: leadingWidth + 1))\(shortFigures)"
    }

    /// The rate as text. It is limited to a number that `Int64` can represent.
    private var speed: String { "\(ByteText.size(Int64(min(rate, 1e18))))/s" }

    /// Returns the bar in brackets.
    private func bar(_ fraction: Double, width: Int, usesUnicode: Bool, style: Style) -> TerminalText {
        let innerWidth = width - 2
        let filledWidth = Int(fraction * Double(innerWidth))
        let (filledCharacter, emptyCharacter) = usesUnicode ? ("━", "─") : ("#", "-")
        let filledPart = String(repeating: filledCharacter, count: filledWidth)
        let emptyPart = String(repeating: emptyCharacter, count: innerWidth - filledWidth)
        return "[\(style.paint(filledPart, .good))\(style.paint(emptyPart, .faint))]"
    }

    /// The line for an output that is not a terminal.
    var plainLine: TerminalText {
        let percent = fraction.map { " (\(Int($0 * 100))%)" } ?? ""
        let ending: String
        if let outcome {
            ending = ", \(outcome)"
        } else {
            ending = remainingSeconds.map { ", \(ByteText.clock($0)) left" } ?? ""
        }
        return "\(name): \(ByteText.size(completedBytes))\(percent), \(speed)\(ending)"
    }
}
