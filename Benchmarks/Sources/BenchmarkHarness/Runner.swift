// SPDX-License-Identifier: MIT

/// The number and length of a run's samples.
package struct Plan: Sendable, Equatable {
    /// The number of samples per looped entry.
    package var samples: Int
    /// The minimum duration of each of these samples, in nanoseconds.
    package var sampleTime: Double
    /// The number of samples per reporting entry.
    package var reports: Int

    package init(samples: Int, sampleTime: Double, reports: Int) {
        self.samples = samples
        self.sampleTime = sampleTime
        self.reports = reports
    }

    package static let full = Plan(samples: 31, sampleTime: 20_000_000, reports: 7)
    package static let quick = Plan(samples: 7, sampleTime: 3_000_000, reports: 1)

    /// Returns the number of runs in a sample of a reporting entry: `full`, or a twentieth if the plan is the quick one.
    package func runs(_ full: Int) -> Int {
        self == .quick ? max(1, full / 20) : full
    }
}

/// Runs cases by a plan. It warms up every entry, determines how often each must run to fill a sample, and then takes samples of
/// the entries in alternation. It prints nothing.
package struct Runner {
    private let plan: Plan

    package init(_ plan: Plan) {
        self.plan = plan
    }

    /// Returns one result per entry, in the order of the case. The result of an absent entry has the reason instead of figures.
    package func run(_ job: BenchmarkCase, group: String) async throws -> [EntryResult] {
        var samples = job.entries.map { _ in [Sample]() }
        var times = job.entries.map { _ in 1 }
        for (index, entry) in job.entries.enumerated() {
            times[index] = try await warmUp(entry, of: job)
        }
        for round in 0..<max(plan.samples, plan.reports) {
            for (index, entry) in job.entries.enumerated() where round < rounds(of: entry, in: job) {
                if let sample = try await sample(entry, times: times[index]) {
                    samples[index].append(sample)
                }
            }
        }
        let rival = job.entries.firstIndex { $0.name == job.rival }
        return job.entries.indices.map { index in
            EntryResult(
                group: group, job: job, entry: job.entries[index], samples: samples[index],
                reference: index == 0 ? [] : samples[0],
                rival: rival.map { $0 == index ? [] : samples[$0] } ?? [])
        }
    }

    private func rounds(of entry: Entry, in job: BenchmarkCase) -> Int {
        switch entry.body {
        case .loop, .asyncLoop: plan.samples
        case .report: job.isSteady ? 1 : plan.reports
        case .absent: 0
        }
    }

    private func sample(_ entry: Entry, times: Int) async throws -> Sample? {
        switch entry.body {
        case .loop(let body):
            let meter = Meter(.thread)
            try body(times)
            return meter.sample(count: times)
        case .asyncLoop(let body):
            let meter = Meter(.process)
            try await body(times)
            return meter.sample(count: times)
        case .report(let body):
            return try await body(plan)
        case .absent:
            return nil
        }
    }

    /// Runs the entry until a sample is long enough, which is also the warm-up; returns the number of runs. A reporting entry
    /// runs once and chooses its own number.
    private func warmUp(_ entry: Entry, of job: BenchmarkCase) async throws -> Int {
        switch entry.body {
        case .absent: return 0
        case .report:
            if plan.reports > 1, !job.isSteady { _ = try await sample(entry, times: 1) }
            return 1
        case .loop, .asyncLoop: break
        }
        var times = 1
        while let sample = try await sample(entry, times: times) {
            if sample.wall >= plan.sampleTime { break }
            times = Runner.nextTimes(after: times, took: sample.wall, wanted: plan.sampleTime)
        }
        return times
    }

    /// Returns the number of runs to try next. It aims for a time that is a fifth longer than the wanted one, and is at least one
    /// run more. It is at most a hundred times as many, because the first run is not warmed up and its time not representative.
    package static func nextTimes(after times: Int, took: Double, wanted: Double) -> Int {
        let aim = Double(times) * wanted * 1.2 / max(took, 1)
        return Int(min(max(aim, Double(times) + 1), Double(times) * 100, 1e12))
    }
}
