// SPDX-License-Identifier: MIT

/// The measurements of one entry, for tables and files.
package struct EntryResult: Codable, Sendable, Equatable {
    package var group: String
    package var job: String
    package var entry: String
    package var unit: String
    package var metric: String
    package var bytes: Int?
    package var samples: Int
    /// Runs of the job per sample.
    package var count: Int
    /// The case's metric per run; nil when the entry was absent.
    package var value: Summary?
    package var wall: Summary?
    package var processor: Summary?
    /// Runs of the job per second: of processor time for a loop on one thread, of elapsed time otherwise.
    package var rate: Double?
    /// The metric divided by the reference's of the same round; nil for the reference itself.
    package var ratio: Summary?
    /// The rival's name, and the metric divided by the rival's of the same round; nil in a case without one.
    package var rival: String?
    package var rivalRatio: Summary?
    /// Elapsed time divided by the reference's and by the rival's of the same round.
    package var wallRatio: Summary?
    package var rivalWallRatio: Summary?
    /// Whether the entry uses the library, and its goal for the ratio; nil in reports of older versions.
    package var isOurs: Bool?
    package var goal: Double?
    /// Counts per run of the job, from the sample with the smallest count, in which no buffers and tables have grown.
    package var allocations: Double?
    package var allocatedBytes: Double?
    package var instructions: Double?
    package var cycles: Double?
    /// Medians of the entry's additional figures.
    package var figures: [String: Double]
    /// The reason why the entry did not run.
    package var absent: String?
    package var missedGoals: [String]

    /// The name that identifies the entry across runs.
    package var identifier: String { "\(group)/\(job)/\(entry)" }

    /// Summarises an entry's samples; `reference` and `rival` are the samples of the first entry and of the rival, taken in the
    /// same rounds.
    package init(
        group: String, job: BenchmarkCase, entry: Entry, samples: [Sample], reference: [Sample],
        rival: [Sample] = []
    ) {
        self.group = group
        self.job = job.name
        self.entry = entry.name
        unit = job.unit
        metric = job.metric.label
        bytes = job.bytes
        self.samples = samples.count
        count = samples.first?.count ?? 0
        value = Summary(samples.compactMap { $0.value(job.metric) })
        wall = Summary(samples.map { $0.wall / Double($0.count) })
        processor = Summary(samples.map { $0.processor / Double($0.count) })
        let time: Double? =
            if case .loop = entry.body { processor?.median } else { wall?.median }
        rate = time.flatMap { $0 > 0 ? 1e9 / $0 : nil }
        func ratios(to others: [Sample], by metric: Metric) -> [Double] {
            zip(samples, others).compactMap { sample, other in
                guard let own = sample.value(metric), let base = other.value(metric), base > 0
                else { return nil }
                return own / base
            }
        }
        ratio = Summary(ratios(to: reference, by: job.metric))
        wallRatio = Summary(ratios(to: reference, by: .wall))
        self.rival = job.rival
        rivalRatio = Summary(ratios(to: rival, by: job.metric))
        rivalWallRatio = Summary(ratios(to: rival, by: .wall))
        isOurs = entry.isOurs
        goal = entry.goals.ratio
        func least(_ figure: (Sample) -> Double?) -> Double? {
            samples.compactMap { sample in figure(sample).map { $0 / Double(sample.count) } }.min()
        }
        allocations = least(\.allocations)
        allocatedBytes = least(\.allocatedBytes)
        instructions = least(\.instructions)
        cycles = least(\.cycles)
        figures = [:]
        for name in Set(samples.flatMap(\.figures.keys)) {
            figures[name] = Summary(samples.compactMap { $0.figures[name] })?.median
        }
        if case .absent(let reason) = entry.body { absent = reason }
        missedGoals = []
        if absent == nil { missedGoals = entry.goals.missed(by: self) }
    }
}
