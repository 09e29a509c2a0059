// SPDX-License-Identifier: MIT

/// The limits of the entries' costs, stored in a file of the repository: `--check BUDGET.json` checks them, `--budget
/// BUDGET.json` writes them.
///
/// Goals are the library's aims, and are stated at the entries; a budget is a limit against regressions, made from a run with a
/// margin. It is meant for instruction counts: times depend on other load of the machine.
package struct Budget: Codable, Sendable, Equatable {
    /// The limits of one entry. Those that are nil are not checked.
    package struct Row: Codable, Sendable, Equatable {
        /// group/case/entry
        package var entry: String
        /// The case's metric per run.
        package var value: Double?
        /// The metric divided by the reference's, and by the rival's.
        package var ratio: Double?
        package var rivalRatio: Double?

        package init(entry: String, value: Double? = nil, ratio: Double? = nil, rivalRatio: Double? = nil) {
            self.entry = entry
            self.value = value
            self.ratio = ratio
            self.rivalRatio = rivalRatio
        }

        /// The prefix of the entries of the same case: group/case/.
        fileprivate var job: String {
            entry.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "/") + "/"
        }
    }

    /// The result of the check, line by line.
    package struct Verdict: Sendable, Equatable {
        package var lines: [String]
        package var isKept: Bool
    }

    package var rows: [Row]

    package init(rows: [Row]) {
        self.rows = rows
    }

    /// Creates a budget from the measurements of the library's entries, increased by the fraction `margin`. Ratios above 100 are
    /// omitted, because their references are too small to be meaningful.
    package init(_ report: Report, margin: Double) {
        func widened(_ summary: Summary?) -> Double? {
            summary.map { summary in
                let limit = summary.median * (1 + margin)
                // Small limits are rounded up to three decimals, others to integers.
                let scale: Double = limit < 100 ? 1000 : 1
                return (limit * scale).rounded(.up) / scale
            }
        }
        rows = report.entries.filter { $0.isOurs == true && $0.value != nil }.map { result in
            Row(
                entry: result.identifier, value: widened(result.value),
                ratio: widened(result.ratio.flatMap { $0.median > 100 ? nil : $0 }),
                rivalRatio: widened(result.rivalRatio))
        }
    }

    /// Checks the rows whose cases ran. An entry that the report lacks is a failure; one that is absent for a reason is reported
    /// as skipped. A run without any checked row is a failure, too.
    package func check(_ report: Report) -> Verdict {
        let results = Dictionary(
            report.entries.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
        var verdict = Verdict(lines: ["Against the budget"], isKept: true)
        var checkedRows = 0
        for row in rows where report.entries.contains(where: { $0.identifier.hasPrefix(row.job) }) {
            guard let result = results[row.entry] else {
                verdict.isKept = false
                verdict.lines.append("  over: \(row.entry): not measured")
                continue
            }
            if let reason = result.absent {
                verdict.lines.append("  skipped: \(row.entry): \(reason)")
                continue
            }
            checkedRows += 1
            let limits = [
                (result.metric, result.value, row.value), ("ratio", result.ratio, row.ratio),
                ("to \(result.rival ?? "rival")", result.rivalRatio, row.rivalRatio),
            ]
            var comparisons: [String] = []
            var isOver = false
            for (name, measured, limit) in limits {
                guard let limit else { continue }
                // A ratio cannot be checked if the peer is absent.
                guard let measured = measured?.median else {
                    comparisons.append("\(name) unknown")
                    continue
                }
                if measured > limit { isOver = true }
                comparisons.append("\(name) \(short(measured)) of \(short(limit))")
            }
            if isOver { verdict.isKept = false }
            verdict.lines.append(
                "  \(isOver ? "over" : "kept"): \(row.entry): \(comparisons.joined(separator: ", "))")
        }
        if checkedRows == 0 {
            verdict.isKept = false
            verdict.lines.append("  nothing that the budget is about was measured")
        }
        return verdict
    }
}
