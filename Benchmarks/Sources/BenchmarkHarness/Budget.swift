// SPDX-License-Identifier: MIT

/// What entries may cost at most, as a file of the repository says: `--check BUDGET.json`, `--budget BUDGET.json` to write it.
///
/// Goals are what the library wants to reach, and stand beside the entries; a budget is what it must not fall behind, made of a
/// run with a margin. It is meant for instruction counts: time would fail for what else the machine does.
package struct Budget: Codable, Sendable, Equatable {
    /// One entry's limits. Those that are nil are not judged.
    package struct Row: Codable, Sendable, Equatable {
        /// group/case/entry
        package var entry: String
        /// The case's metric per run.
        package var value: Double?
        /// The metric as a part of the reference's, and of the rival's.
        package var ratio: Double?
        package var rivalRatio: Double?

        package init(entry: String, value: Double? = nil, ratio: Double? = nil, rivalRatio: Double? = nil) {
            self.entry = entry
            self.value = value
            self.ratio = ratio
            self.rivalRatio = rivalRatio
        }

        /// Its entry's case, as group/case/.
        fileprivate var job: String {
            entry.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "/") + "/"
        }
    }

    /// What was found, line by line.
    package struct Verdict: Sendable, Equatable {
        package var lines: [String]
        package var isKept: Bool
    }

    package var rows: [Row]

    package init(rows: [Row]) {
        self.rows = rows
    }

    /// What a report's entries of the library measured, and `margin` as a part of it more. A ratio above 100 is left out: its
    /// reference is so small that it says little.
    package init(_ report: Report, margin: Double) {
        func widened(_ summary: Summary?) -> Double? {
            summary.map { wide in
                let limit = wide.median * (1 + margin)
                return (limit * (limit < 100 ? 1000 : 1)).rounded(.up) / (limit < 100 ? 1000 : 1)
            }
        }
        rows = report.entries.filter { $0.isOurs == true && $0.value != nil }.map { result in
            Row(
                entry: result.identifier, value: widened(result.value),
                ratio: widened(result.ratio.flatMap { $0.median > 100 ? nil : $0 }),
                rivalRatio: widened(result.rivalRatio))
        }
    }

    /// Judges the rows whose cases ran. A row whose entry did not run is a failure, unless its peers are absent too: a line
    /// says so. So is a run that no row is about.
    package func judge(_ report: Report) -> Verdict {
        let results = Dictionary(
            report.entries.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
        var verdict = Verdict(lines: ["Against the budget"], isKept: true)
        var judged = 0
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
            judged += 1
            let limits = [
                (result.metric, result.value, row.value), ("ratio", result.ratio, row.ratio),
                ("to \(result.rival ?? "rival")", result.rivalRatio, row.rivalRatio),
            ]
            var words: [String] = []
            var isOver = false
            for (name, measured, limit) in limits {
                guard let limit else { continue }
                // A ratio cannot be judged where the peer is absent.
                guard let measured = measured?.median else {
                    words.append("\(name) unknown")
                    continue
                }
                if measured > limit { isOver = true }
                words.append("\(name) \(short(measured)) of \(short(limit))")
            }
            if isOver { verdict.isKept = false }
            verdict.lines.append(
                "  \(isOver ? "over" : "kept"): \(row.entry): \(words.joined(separator: ", "))")
        }
        if judged == 0 {
            verdict.isKept = false
            verdict.lines.append("  nothing that the budget is about was measured")
        }
        return verdict
    }
}
