// SPDX-License-Identifier: MIT

/// A group's results as an SVG image: a block of bars per case, a bar per entry.
///
/// The bars show the ratios to the case's reference if there are any, otherwise the metric. A bar that exceeds the scale is cut,
/// with a mark at its end; its figure is printed beside it. The colours follow the reader's light or dark scheme. The text
/// uses system fonts.
package struct Chart: Sendable {
    private let title: String
    private let jobs: [[EntryResult]]

    private let labelWidth = 210.0
    private let barWidth = 380.0
    private let width = 760.0
    private let rowHeight = 20.0

    /// - Parameter results: The results of one group, in the order in which they ran.
    package init(_ title: String, _ results: [EntryResult]) {
        self.title = title
        var jobs: [[EntryResult]] = []
        for result in results where result.value != nil {
            if let last = jobs.indices.last, jobs[last].first?.job == result.job {
                jobs[last].append(result)
            } else {
                jobs.append([result])
            }
        }
        self.jobs = jobs
    }

    /// The image as an SVG document.
    package var svg: String {
        var parts: [String] = []
        var top = 34.0
        for job in jobs {
            parts.append(
                text(job.first.map { "\($0.job): \($0.metric) per \($0.unit)" } ?? "", x: 0, y: top, "case"))
            top += 10
            parts += block(job, top: top)
            top += rowHeight * Double(job.count) + 28
        }
        let height = decimal(max(top, 50), 0)
        let head =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(decimal(width, 0))\" height=\"\(height)\" "
            + "viewBox=\"0 0 \(decimal(width, 0)) \(height)\" role=\"img\" aria-label=\"\(escaped(title))\">"
        return ([head, Chart.style, text(title, x: 0, y: 14, "title")] + parts + ["</svg>", ""])
            .joined(separator: "\n")
    }

    /// Returns the ratio that a bar represents.
    private func length(of result: EntryResult, isReference: Bool) -> Double {
        isReference ? 1 : result.ratio?.median ?? 0
    }

    /// Returns the elements of a case's bars.
    private func block(_ job: [EntryResult], top: Double) -> [String] {
        let isByRatio = job.dropFirst().contains { $0.ratio != nil }
        let lengths = job.enumerated().map { index, result in
            isByRatio ? length(of: result, isReference: index == 0) : result.value?.median ?? 0
        }
        let scale = Chart.scale(lengths, isOurs: job.map { $0.isOurs == true })
        return zip(job, lengths).enumerated().flatMap { index, pair in
            let (result, length) = pair
            let y = top + rowHeight * Double(index)
            let isCut = length > scale
            let barLength = scale > 0 ? max(1, min(length, scale) / scale * barWidth) : 1
            let otherKind = index == 0 ? "reference" : "peer"
            let kind = result.isOurs == true ? "ours" : otherKind
            var parts = [
                text(result.entry, x: labelWidth - 8, y: y + 13, "label"),
                rectangle(x: labelWidth, y: y + 3, width: barLength, height: rowHeight - 6, kind),
            ]
            if isCut {
                let end = labelWidth + barLength
                parts.append(
                    "<path class=\"cut\" d=\"M\(decimal(end - 14, 1)) \(decimal(y + rowHeight - 1, 1))l6 -18m5 0l-6 18\"/>"
                )
            }
            if isByRatio, let goal = result.goal, goal <= scale {
                let x = labelWidth + goal / scale * barWidth - 1
                parts.append(rectangle(x: x, y: y + 1, width: 2, height: rowHeight - 2, "goal"))
            }
            let value = short(result.value?.median ?? 0)
            let ratio = isByRatio && length > 0 ? " (\(decimal(length, 2)) x)" : ""
            parts.append(text(value + ratio, x: labelWidth + barLength + 6, y: y + 13, "value"))
            return parts
        }
    }

    /// Returns the length that fills the width: that of the longest bar, but at most two and a half times the longest of the
    /// reference and the library's own, so that these remain readable.
    static func scale(_ lengths: [Double], isOurs: [Bool]) -> Double {
        let readable = zip(lengths, isOurs).enumerated().filter { $0.offset == 0 || $0.element.1 }
            .map(\.element.0)
        return min(lengths.max() ?? 0, (readable.max() ?? 0) * 2.5)
    }

    private func text(_ words: String, x: Double, y: Double, _ kind: String) -> String {
        "<text class=\"\(kind)\" x=\"\(decimal(x, 1))\" y=\"\(decimal(y, 1))\">\(escaped(words))</text>"
    }

    private func rectangle(x: Double, y: Double, width: Double, height: Double, _ kind: String) -> String {
        "<rect class=\"\(kind)\" x=\"\(decimal(x, 1))\" y=\"\(decimal(y, 1))\" "
            + "width=\"\(decimal(width, 1))\" height=\"\(decimal(height, 1))\" rx=\"1\"/>"
    }

    private func escaped(_ words: String) -> String {
        words.reduce(into: "") { text, character in
            switch character {
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "&": text += "&amp;"
            case "\"": text += "&quot;"
            case _: text.append(character)
            }
        }
    }

    /// The style sheet. It sets no background, so that the page's background is visible. The greys contrast with white and black.
    private static let style = """
        <style>
        text { font: 12px system-ui, sans-serif; fill: #24292f; }
        .title { font-weight: 700; font-size: 14px; }
        .case { font-weight: 600; }
        .label { text-anchor: end; }
        .ours { fill: #8250df; } .peer { fill: #9aa4ae; } .reference { fill: #57606a; } .goal { fill: #cf222e; }
        .cut { stroke: #ffffff; stroke-width: 2; fill: none; }
        @media (prefers-color-scheme: dark) {
          text { fill: #e6edf3; }
          .ours { fill: #a371f7; } .peer { fill: #6e7681; } .reference { fill: #b1bac4; } .goal { fill: #ff7b72; }
          .cut { stroke: #0d1117; }
        }
        </style>
        """
}
