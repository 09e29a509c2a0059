// SPDX-License-Identifier: MIT

/// Formats results as lines for the terminal.
package enum Presentation {
    /// Returns the lines of one case: a title, a row per entry, and a line per absent entry.
    package static func lines(_ results: [EntryResult]) -> [String] {
        guard let first = results.first else { return [] }
        var title = "\(first.group)/\(first.job)"
        if let bytes = first.bytes { title += "  (\(bytes) bytes per \(first.unit))" }
        let hasInstructions = results.contains { $0.instructions != nil }
        var head = ["", "\(first.metric)/\(first.unit)", "±", "wall ns", "\(first.unit)/s"]
        if first.bytes != nil { head.append("MB/s") }
        head += ["allocs", "heap B"]
        if hasInstructions { head += ["instr", "cycles"] }
        head += ["ratio", "±", "time"]
        if let rival = first.rival { head += ["to \(rival)", "±", "time"] }
        head.append("goal")
        var table = Table(head)
        for result in results where result.absent == nil {
            table.add(row(result, isReference: result == first, hasInstructions: hasInstructions))
        }
        let skipped = results.compactMap { result in
            result.absent.map { "  \(result.entry): skipped: \($0)" }
        }
        let figures = results.filter { !$0.figures.isEmpty }.map { result in
            let list = result.figures.sorted { $0.key < $1.key }.map { "\($0.key) \(short($0.value))" }
            return "  \(result.entry): \(list.joined(separator: ", "))"
        }
        return [title] + (skipped.count == results.count ? [] : table.lines) + figures + skipped
    }

    private static func row(_ result: EntryResult, isReference: Bool, hasInstructions: Bool) -> [String] {
        func text(_ value: Double?, _ format: (Double) -> String = short) -> String {
            value.map(format) ?? "-"
        }
        var row = [
            result.entry, text(result.value?.median) { decimal($0, $0 < 1000 ? 1 : 0) },
            text(result.value?.spread, percent), text(result.wall?.median) { decimal($0, $0 < 1000 ? 1 : 0) },
            text(result.rate),
        ]
        if let bytes = result.bytes {
            row.append(text(result.rate.map { $0 * Double(bytes) / 1e6 }) { decimal($0, 0) })
        }
        row += [text(result.allocations, { decimal($0, 2) }), text(result.allocatedBytes)]
        if hasInstructions { row += [text(result.instructions), text(result.cycles)] }
        row += [
            isReference ? "1" : text(result.ratio?.median) { decimal($0, 3) },
            text(result.ratio?.spread, percent),
            isReference ? "1" : text(result.wallRatio?.median) { decimal($0, 3) },
        ]
        if let rival = result.rival {
            row += [
                rival == result.entry ? "1" : text(result.rivalRatio?.median) { decimal($0, 3) },
                text(result.rivalRatio?.spread, percent),
                rival == result.entry ? "1" : text(result.rivalWallRatio?.median) { decimal($0, 3) },
            ]
        }
        row.append(result.missedGoals.joined(separator: ", "))
        return row
    }

    private static func percent(_ part: Double) -> String { decimal(part * 100, 1) + "%" }

    /// Returns the changes since an earlier report: of the ratio if both runs have one, because the reference ran in both,
    /// otherwise of the value. A change counts only if the two spreads do not overlap.
    package static func changes(from old: Report, to new: Report) -> [String] {
        let earlier = Dictionary(
            old.entries.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
        var table = Table(["", "by", "before", "now", "change", "allocs before", "now", ""])
        var missing: [String] = []
        for result in new.entries where result.absent == nil {
            guard let before = earlier[result.identifier], before.absent == nil else {
                missing.append("  \(result.identifier): not in the earlier report")
                continue
            }
            let isByRatio = before.ratio != nil && result.ratio != nil
            guard let previous = isByRatio ? before.ratio : before.value,
                let current = isByRatio ? result.ratio : result.value
            else { continue }
            let change = previous.median == 0 ? 0 : current.median / previous.median - 1
            let direction = current.median < previous.median ? "better" : "worse"
            let verdict = current.isApart(from: previous) ? direction : "same"
            table.add([
                result.identifier, isByRatio ? "ratio" : result.metric,
                decimal(previous.median, isByRatio ? 3 : 1),
                decimal(current.median, isByRatio ? 3 : 1), (change > 0 ? "+" : "") + percent(change),
                before.allocations.map { decimal($0, 2) } ?? "-",
                result.allocations.map { decimal($0, 2) } ?? "-",
                verdict,
            ])
        }
        var lines = ["Compared with the earlier report (less is better)"] + table.lines + missing
        if old.machine != new.machine {
            lines.append("  The earlier report is of another machine: \(old.machine)")
        }
        return lines
    }
}
