// SPDX-License-Identifier: MIT

/// A group's results as an SVG image: a block of bars per case, a bar per entry.
///
/// The bars show the ratios to the case's reference if there are some, otherwise the metric. A bar that is too long for the scale
/// is cut, which its end shows; its figure is printed beside it. The colours follow the reader's light or dark scheme. The text
/// uses system fonts.
package struct Chart: Sendable {
    private let title: String
    private let jobs: [[EntryResult]]

    private let labels = 210.0
    private let bars = 380.0
    private let width = 760.0
    private let row = 20.0

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
            top += row * Double(job.count) + 28
        }
        let height = decimal(max(top, 50), 0)
        let head =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(decimal(width, 0))\" height=\"\(height)\" "
            + "viewBox=\"0 0 \(decimal(width, 0)) \(height)\" role=\"img\" aria-label=\"\(escaped(title))\">"
        return ([head, Chart.style, text(title, x: 0, y: 14, "title")] + parts + ["</svg>", ""])
            .joined(separator: "\n")
    }

    /// Returns the value that a bar's length represents.
    private func length(of result: EntryResult, isReference: Bool) -> Double {
        isReference ? 1 : result.ratio?.median ?? 0
    }

    private func block(_ job: [EntryResult], top: Double) -> [String] {
        let isByRatio = job.dropFirst().contains { $0.ratio != nil }
        let lengths = job.enumerated().map { index, result in
            isByRatio ? length(of: result, isReference: index == 0) : result.value?.median ?? 0
        }
        let scale = Chart.scale(lengths, telling: job.map { $0.isOurs == true })
        return zip(job, lengths).enumerated().flatMap { index, pair in
            let (result, length) = pair
            let y = top + row * Double(index)
            let isCut = length > scale
            let long = scale > 0 ? max(1, min(length, scale) / scale * bars) : 1
            let kind = result.isOurs == true ? "ours" : index == 0 ? "reference" : "peer"
            var parts = [
                text(result.entry, x: labels - 8, y: y + 13, "label"),
                rectangle(x: labels, y: y + 3, width: long, height: row - 6, kind),
            ]
            if isCut {
                let end = labels + long
                parts.append(
                    "<path class=\"cut\" d=\"M\(decimal(end - 14, 1)) \(decimal(y + row - 1, 1))l6 -18m5 0l-6 18\"/>"
                )
            }
            if isByRatio, let goal = result.goal, goal <= scale {
                parts.append(
                    rectangle(
                        x: labels + goal / scale * bars - 1, y: y + 1, width: 2, height: row - 2, "goal"))
            }
            let value = short(result.value?.median ?? 0)
            let ratio = isByRatio && length > 0 ? " (\(decimal(length, 2)) x)" : ""
            parts.append(text(value + ratio, x: labels + long + 6, y: y + 13, "value"))
            return parts
        }
    }

    /// Returns the length that fills the width: that of the longest bar, but at most two and a half times the longest of the
    /// reference and the library's own, so that these remain readable.
    static func scale(_ lengths: [Double], telling ours: [Bool]) -> Double {
        let told = zip(lengths, ours).enumerated().filter { $0.offset == 0 || $0.element.1 }.map(\.element.0)
        return min(lengths.max() ?? 0, (told.max() ?? 0) * 2.5)
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

    /// Has no background, so that the page's is visible. The greys contrast with both white and black.
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
