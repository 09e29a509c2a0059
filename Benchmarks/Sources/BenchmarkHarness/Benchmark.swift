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
    /// Whether one sample of an entry that reports says all, because nothing disturbs it.
    package let isSteady: Bool
    /// The name of an entry that the others get a second ratio to.
    package let rival: String?
    package let entries: [Entry]

    package init(
        _ name: String, unit: String, bytes: Int? = nil, metric: Metric = .processor, isSteady: Bool = false,
        rival: String? = nil,
        entries: [Entry]
    ) {
        self.name = name
        self.unit = unit
        self.bytes = bytes
        self.metric = metric
        self.isSteady = isSteady
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
    /// Whether it is the library that does the job here; charts show it in another colour than its peers.
    package let isOurs: Bool

    package init(_ name: String, isOurs: Bool = false, goals: Goals = Goals(), _ body: Body) {
        self.name = name
        self.body = body
        self.goals = goals
        self.isOurs = isOurs
    }
}
