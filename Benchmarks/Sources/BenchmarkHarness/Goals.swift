// SPDX-License-Identifier: MIT

/// The goals of an entry. Results show missed goals; a run fails for them only with `--check`.
package struct Goals: Sendable, Equatable {
    /// The metric divided by the reference's.
    package var ratio: Double?
    /// The metric divided by the rival's.
    package var rivalRatio: Double?
    /// Elapsed time divided by the reference's, and by the rival's.
    package var wallRatio: Double?
    package var rivalWallRatio: Double?
    /// Heap requests per run.
    package var allocations: Double?
    /// Additional figures of the entry that must be above a bound, and those that must be at most a bound.
    package var above: [String: Double]
    package var below: [String: Double]

    package init(
        ratio: Double? = nil, rivalRatio: Double? = nil, wallRatio: Double? = nil,
        rivalWallRatio: Double? = nil, allocations: Double? = nil, above: [String: Double] = [:],
        below: [String: Double] = [:]
    ) {
        self.ratio = ratio
        self.rivalRatio = rivalRatio
        self.wallRatio = wallRatio
        self.rivalWallRatio = rivalWallRatio
        self.allocations = allocations
        self.above = above
        self.below = below
    }

    /// Returns descriptions of the goals that a result misses; empty if it meets all goals that could be checked. A figure that
    /// the result lacks counts as missed.
    func missed(by result: EntryResult) -> [String] {
        let ratios = [
            ("ratio", result.ratio, ratio), ("ratio to rival", result.rivalRatio, rivalRatio),
            ("time", result.wallRatio, wallRatio), ("time to rival", result.rivalWallRatio, rivalWallRatio),
        ]
        var missed = ratios.compactMap { name, measured, goal -> String? in
            guard let measured = measured?.median, let goal, measured > goal else { return nil }
            return "\(name) \(decimal(measured, 2)) > \(decimal(goal, 2))"
        }
        for (name, bound) in above.sorted(by: { $0.key < $1.key }) {
            guard let figure = result.figures[name] else {
                missed.append("\(name) not reported")
                continue
            }
            if figure <= bound { missed.append("\(name) \(decimal(figure, 2)) <= \(decimal(bound, 2))") }
        }
        for (name, bound) in below.sorted(by: { $0.key < $1.key }) {
            guard let figure = result.figures[name] else {
                missed.append("\(name) not reported")
                continue
            }
            if figure > bound { missed.append("\(name) \(decimal(figure, 2)) > \(decimal(bound, 2))") }
        }
        // Tolerates allocations that are made once per sample, such as a table that is reused.
        if let allocations, let counted = result.allocations, counted > allocations + 0.05 {
            missed.append("allocations \(decimal(counted, 2)) > \(decimal(allocations, 2))")
        }
        return missed
    }
}
