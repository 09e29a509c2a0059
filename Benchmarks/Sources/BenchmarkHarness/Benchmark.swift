// SPDX-License-Identifier: MIT

/// A named set of cases that can be selected on the command line. The cases are created only when the group runs.
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

/// One job, done by several entries on the same input in alternation (A B C A B C), so that disturbances affect all entries
/// alike. The first entry is the reference: the ratio of another entry is its cost divided by that of the reference in the same
/// round.
package struct BenchmarkCase {
    package let name: String
    /// The object that one run of the job handles: "head", "request", "document".
    package let unit: String
    /// The number of bytes that one run handles, to compute a throughput.
    package let bytes: Int?
    package let metric: Metric
    /// Whether one sample of a reporting entry is enough, because nothing disturbs it.
    package let isSteady: Bool
    /// The name of the entry with which the others are compared by a second ratio.
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
        /// Does the job the given number of times, on the calling thread.
        case loop((_ times: Int) throws -> Void)
        /// Does the job the given number of times, on any threads: the whole process is measured.
        case asyncLoop((_ times: Int) async throws -> Void)
        /// Does the job any number of times and reports its cost itself, like an entry that runs another program.
        case report((Plan) async throws -> Sample)
        /// Cannot run on this machine, for this reason, which the table shows.
        case absent(String)
    }

    package let name: String
    package let body: Body
    package let goals: Goals
    /// Whether the entry uses the library; charts show such entries in another colour.
    package let isOurs: Bool

    package init(_ name: String, isOurs: Bool = false, goals: Goals = Goals(), _ body: Body) {
        self.name = name
        self.body = body
        self.goals = goals
        self.isOurs = isOurs
    }
}
