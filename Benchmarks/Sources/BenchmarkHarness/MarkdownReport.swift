// SPDX-License-Identifier: MIT

/// A report as Markdown tables: one per group, a row per entry that ran, and a line for each that did not.
package struct MarkdownReport: Sendable {
    private let report: Report

    package init(_ report: Report) {
        self.report = report
    }

    /// The tables, after a line that names the machine.
    package var text: String {
        let groups = report.groups.flatMap { name in
            table(name, report.entries.filter { $0.group == name })
        }
        return (["Measured on \(report.machine)."] + groups).joined(separator: "\n") + "\n"
    }

    private func table(_ name: String, _ results: [EntryResult]) -> [String] {
        var lines = [
            "", "### \(name)", "", "| case | entry | cost | ratio | time | to the rival | goal |",
            "|---|---|---:|---:|---:|---:|---|",
        ]
        for result in results where result.absent == nil {
            let cost = result.value.map { "\(short($0.median)) \(result.metric)/\(result.unit)" } ?? "–"
            let figures = result.figures.sorted { $0.key < $1.key }.map { "\($0.key) \(short($0.value))" }
            let cells = [
                result.job, result.entry, ([cost] + figures).joined(separator: ", "),
                ratio(result.ratio), result.wallRatio.map { decimal($0.median, 2) } ?? "1",
                result.rivalRatio.map { "\(decimal($0.median, 2)) x \(result.rival ?? "")" } ?? "",
                result.missedGoals.isEmpty
                    ? result.goal.map { "at most \(decimal($0, 2))" } ?? ""
                    : "missed: \(result.missedGoals.joined(separator: ", "))",
            ]
            lines.append("| " + cells.map(escaped).joined(separator: " | ") + " |")
        }
        let absent = results.compactMap { result in
            result.absent.map { "- \(result.job), \(result.entry): skipped: \($0)" }
        }
        return lines + (absent.isEmpty ? [] : [""] + absent)
    }

    /// Returns a ratio and its spread; 1 for the reference itself.
    private func ratio(_ summary: Summary?) -> String {
        summary.map { "\(decimal($0.median, 2)) ± \(decimal($0.spread * 100, 0)) %" } ?? "1"
    }

    /// Escapes vertical bars, which would end the cell.
    private func escaped(_ cell: String) -> String {
        cell.reduce(into: "") { text, character in
            if character == "|" { text += "\\" }
            text.append(character)
        }
    }
}
