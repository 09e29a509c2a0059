// SPDX-License-Identifier: MIT

/// A named set of cases, chosen on the command line. The cases are made only when the group runs.
package struct BenchmarkGroup {
    package let name: String
    package let summary: String
    package let cases: () throws -> [BenchmarkCase]

    package init(_ name: String, _ summary: String, cases: @escaping () throws -> [BenchmarkCase]) {
        self.name = name
        self.summary = summary
        self.cases = cases
    }
}

/// One job, done by several entries on the same input in alternation: A B C A B C, so that whatever the machine does
/// meanwhile hits all alike. The first entry is the reference: the others' ratios are to it, sample by sample.
package struct BenchmarkCase {
    package let name: String
    /// What one run of the job handles: "head", "request", "document".
    package let unit: String
    /// Bytes that one run handles, for a throughput.
    package let bytes: Int?
    package let metric: Metric
    /// The name of an entry that the others get a second ratio to.
    package let rival: String?
    package let entries: [Entry]

    package init(
        _ name: String, unit: String, bytes: Int? = nil, metric: Metric = .processor, rival: String? = nil,
        entries: [Entry]
    ) {
        self.name = name
        self.unit = unit
        self.bytes = bytes
        self.metric = metric
        self.rival = rival
        self.entries = entries
    }
}

/// One way to do a case's job.
package struct Entry {
    package enum Body {
        /// Does the job as many times as told, on the calling thread.
        case loop((_ times: Int) throws -> Void)
        /// Does the job as many times as told, on any threads: the whole process is measured.
        case asyncLoop((_ times: Int) async throws -> Void)
        /// Does the job as often as suits it and says itself what it cost, as the runner of another program does.
        case report((Plan) async throws -> Sample)
        /// Cannot run here, and why; the table shows the line.
        case absent(String)
    }

    package let name: String
    package let body: Body
    package let goals: Goals

    package init(_ name: String, goals: Goals = Goals(), _ body: Body) {
        self.name = name
        self.body = body
        self.goals = goals
    }
}

/// What an entry is meant to reach. Shown, and gated only when asked for with `--check`.
package struct Goals: Sendable, Equatable {
    /// The metric, as a part of the reference's.
    package var ratio: Double?
    /// The metric, as a part of the rival's.
    package var rivalRatio: Double?
    /// Heap requests per run.
    package var allocations: Double?
    /// Figures of the entry's own that are meant to be above so much.
    package var above: [String: Double]

    package init(
        ratio: Double? = nil, rivalRatio: Double? = nil, allocations: Double? = nil,
        above: [String: Double] = [:]
    ) {
        self.ratio = ratio
        self.rivalRatio = rivalRatio
        self.allocations = allocations
        self.above = above
    }

    /// The goals that a result misses, in words; empty when all that could be judged are met. A figure that the result
    /// lacks is a missed one: its entry was to report it.
    package func missed(
        ratio measured: Double?, rivalRatio measuredToRival: Double? = nil, allocations counted: Double?,
        figures: [String: Double] = [:]
    ) -> [String] {
        var missed: [String] = []
        if let ratio, let measured, measured > ratio {
            missed.append("ratio \(decimal(measured, 2)) > \(decimal(ratio, 2))")
        }
        if let rivalRatio, let measuredToRival, measuredToRival > rivalRatio {
            missed.append("ratio to rival \(decimal(measuredToRival, 2)) > \(decimal(rivalRatio, 2))")
        }
        for (name, bound) in above.sorted(by: { $0.key < $1.key }) {
            guard let figure = figures[name] else {
                missed.append("\(name) not reported")
                continue
            }
            if figure <= bound { missed.append("\(name) \(decimal(figure, 2)) <= \(decimal(bound, 2))") }
        }
        // What is allocated once, such as a table that is then kept, is spread over the runs of a sample.
        if let allocations, let counted, counted > allocations + 0.05 {
            missed.append("allocations \(decimal(counted, 2)) > \(decimal(allocations, 2))")
        }
        return missed
    }
}
