// SPDX-License-Identifier: MIT

/// The median and the spread of a set of measurements. It has no mean, because one disturbed sample must not change the result.
package struct Summary: Codable, Sendable, Equatable {
    package var median: Double
    /// The median absolute deviation.
    package var deviation: Double
    package var p10: Double
    package var p90: Double
    package var least: Double

    /// Summarises the values; nil if there are none.
    package init?(_ values: [Double]) {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let middle = Summary.percentile(50, of: sorted)
        median = middle
        deviation = Summary.percentile(50, of: sorted.map { abs($0 - middle) }.sorted())
        p10 = Summary.percentile(10, of: sorted)
        p90 = Summary.percentile(90, of: sorted)
        least = sorted[0]
    }

    /// Returns a percentile, interpolated linearly between the values next to it; `sorted` is ascending and not empty.
    package static func percentile(_ percent: Double, of sorted: [Double]) -> Double {
        let rank = min(max(percent, 0), 100) / 100 * Double(sorted.count - 1)
        let below = Int(rank)
        let above = min(below + 1, sorted.count - 1)
        return sorted[below] + (sorted[above] - sorted[below]) * (rank - Double(below))
    }

    /// Half of the distance from p10 to p90, divided by the median; shown as "±" in the tables.
    package var spread: Double {
        median == 0 ? 0 : (p90 - p10) / 2 / abs(median)
    }

    /// Returns whether two sets of measurements differ: their ranges from p10 to p90 do not overlap.
    package func isApart(from other: Summary) -> Bool {
        p90 < other.p10 || other.p90 < p10
    }
}
