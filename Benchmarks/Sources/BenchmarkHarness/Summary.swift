// SPDX-License-Identifier: MIT

/// The middle and the spread of a set of measurements. Medians and percentiles, because one disturbed sample must not
/// move the answer; the mean is not offered for that reason.
package struct Summary: Codable, Sendable, Equatable {
    package var median: Double
    /// Median of the distances to the median.
    package var deviation: Double
    package var p10: Double
    package var p90: Double
    package var least: Double

    /// Nil for no measurements.
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

    /// Linear interpolation between the neighbours of the rank; `sorted` is ascending and not empty.
    package static func percentile(_ percent: Double, of sorted: [Double]) -> Double {
        let rank = min(max(percent, 0), 100) / 100 * Double(sorted.count - 1)
        let below = Int(rank)
        let above = min(below + 1, sorted.count - 1)
        return sorted[below] + (sorted[above] - sorted[below]) * (rank - Double(below))
    }

    /// Half the distance from p10 to p90, as a part of the median: the "±" of the tables.
    package var spread: Double {
        median == 0 ? 0 : (p90 - p10) / 2 / abs(median)
    }

    /// Whether two sets of measurements lie apart: no overlap of their p10 to p90.
    package func isApart(from other: Summary) -> Bool {
        p90 < other.p10 || other.p90 < p10
    }
}
