// SPDX-License-Identifier: MIT

/// The cost of one measured section: `count` runs of the job together.
///
/// The harness creates the samples of jobs that it loops. An entry that runs a program or a server creates its own samples.
package struct Sample: Sendable, Equatable {
    /// The number of runs of the job in this sample; at least one.
    package var count: Int
    /// Elapsed nanoseconds.
    package var wall: Double
    /// Nanoseconds of processor time, user and system.
    package var processor: Double
    /// The numbers of heap requests and of requested bytes; nil if they were not counted.
    package var allocations: Double?
    package var allocatedBytes: Double?
    /// Instructions and cycles in user space; nil if the machine does not count them.
    package var instructions: Double?
    package var cycles: Double?
    /// Additional figures of the entry, not divided by `count`, such as "resident KiB".
    package var figures: [String: Double]

    package init(
        count: Int, wall: Double, processor: Double, allocations: Double? = nil,
        allocatedBytes: Double? = nil,
        instructions: Double? = nil, cycles: Double? = nil, figures: [String: Double] = [:]
    ) {
        self.count = max(1, count)
        self.wall = wall
        self.processor = processor
        self.allocations = allocations
        self.allocatedBytes = allocatedBytes
        self.instructions = instructions
        self.cycles = cycles
        self.figures = figures
    }

    /// Returns the sample's value of a metric, per run of the job; nil if it lacks the figure.
    package func value(_ metric: Metric) -> Double? {
        switch metric {
        case .processor: processor / Double(count)
        case .wall: wall / Double(count)
        case .instructions: instructions.map { $0 / Double(count) }
        case .figure(let name): figures[name]
        }
    }
}

/// The quantity by which a case compares its entries; less is better.
package enum Metric: Sendable, Equatable {
    /// Processor time per run, which other load on the machine disturbs least.
    case processor
    /// Elapsed time per run.
    case wall
    /// Instructions in user space per run, which other load on the machine does not disturb.
    case instructions
    /// An additional figure that the entries report.
    case figure(String)

    /// The heading of the column, without the unit of work.
    package var label: String {
        switch self {
        case .processor: "cpu ns"
        case .wall: "wall ns"
        case .instructions: "instr"
        case .figure(let name): name
        }
    }
}
