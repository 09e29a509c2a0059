// SPDX-License-Identifier: MIT
import BenchmarkHarness

/// Returns the results of a case whose entries have the given costs; the first entry is the reference. It has three equal rounds.
func results(
    _ costs: [(entry: Entry, cost: Double)], group: String = "g", job: String = "job", rival: String? = nil,
    metric: Metric = .processor
) async throws -> [EntryResult] {
    let entries = costs.map { entry, cost in
        if case .report = entry.body {
            return Entry(
                entry.name, isOurs: entry.isOurs, goals: entry.goals,
                .report { _ in
                    Sample(
                        count: 1, wall: cost * 10, processor: cost, instructions: cost * 100,
                        figures: ["size": cost])
                })
        }
        return entry
    }
    let job = BenchmarkCase(job, unit: "run", metric: metric, rival: rival, entries: entries)
    return try await Runner(Plan(samples: 1, sampleTime: 1, reports: 3)).run(job, group: group)
}

/// Returns an entry whose cost `results` fills in.
func entry(_ name: String, isOurs: Bool = false, goals: Goals = Goals()) -> Entry {
    Entry(name, isOurs: isOurs, goals: goals, .report { _ in Sample(count: 1, wall: 1, processor: 1) })
}
