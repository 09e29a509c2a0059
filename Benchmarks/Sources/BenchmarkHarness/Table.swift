// SPDX-License-Identifier: MIT

/// Formats rows as columns: the first is aligned left, the others right.
package struct Table {
    private var rows: [[String]]

    package init(_ head: [String]) {
        rows = [head]
    }

    package mutating func add(_ row: [String]) {
        rows.append(row)
    }

    /// The table's lines, without trailing spaces.
    package var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let blank = String(repeating: " ", count: widths[column] - cell.count)
                line += column == 0 ? "  " + cell + blank : "  " + blank + cell
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}

/// Formats a number with a fixed count of decimals, at most six: "0.50".
package func decimal(_ value: Double, _ places: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
    let scale = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000][min(max(places, 0), 6)]
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard scale > 1 else { return "\(sign)\(scaled)" }
    let part = String(scaled % scale)
    let zeros = String(repeating: "0", count: String(scale).count - 1 - part.count)
    return "\(sign)\(scaled / scale).\(zeros)\(part)"
}

/// Formats a number with three significant digits and a suffix: "3.58M", "512", "0.25".
package func short(_ value: Double) -> String {
    for (limit, suffix) in [(1e9, "G"), (1e6, "M"), (1e4, "k")] where abs(value) >= limit {
        let scale = suffix == "k" ? 1e3 : limit
        return digits(value / scale) + suffix
    }
    return digits(value)
}

private func digits(_ value: Double) -> String {
    decimal(value, abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : 2)
}
