// SPDX-License-Identifier: MIT

/// What one measured stretch of work cost: `count` runs of the job, and what they took together.
///
/// The harness makes samples itself for jobs that it loops; an entry that runs a program or a server makes its own.
package struct Sample: Sendable, Equatable {
    /// Runs of the job in this sample; at least one.
    package var count: Int
    /// Nanoseconds that passed.
    package var wall: Double
    /// Nanoseconds of processor time, user and system.
    package var processor: Double
    /// Heap requests and the bytes they asked for, where they were counted.
    package var allocations: Double?
    package var allocatedBytes: Double?
    /// Instructions and cycles in user space, where the machine counts them.
    package var instructions: Double?
    package var cycles: Double?
    /// Figures of the entry's own, not divided by `count`, such as "resident KiB".
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

    /// The sample's value by a metric, per run of the job; nil when it lacks the figure.
    package func value(_ metric: Metric) -> Double? {
        switch metric {
        case .processor: processor / Double(count)
        case .wall: wall / Double(count)
        case .instructions: instructions.map { $0 / Double(count) }
        case .figure(let name): figures[name]
        }
    }
}

/// What a case compares its entries by; less is better.
package enum Metric: Sendable, Equatable {
    /// Processor time per run: what other programs on the machine disturb least.
    case processor
    /// Elapsed time per run.
    case wall
    /// Instructions in user space per run: what nothing else on the machine disturbs.
    case instructions
    /// A figure that the entries' own samples carry.
    case figure(String)

    /// The column's head, before the unit of work.
    package var label: String {
        switch self {
        case .processor: "cpu ns"
        case .wall: "wall ns"
        case .instructions: "instr"
        case .figure(let name): name
        }
    }
}
