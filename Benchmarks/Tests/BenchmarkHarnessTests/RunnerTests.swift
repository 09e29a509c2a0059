// SPDX-License-Identifier: MIT
import BenchmarkHarness
import Testing

/// The runner's use of a case's entries, and the results.
@Suite struct RunnerTests {
    private let plan = Plan(samples: 4, sampleTime: 1, reports: 4)

    /// Returns an entry that reports a fixed cost and logs that it ran.
    private func reporting(_ name: String, processor: [Double], log: Log) -> Entry {
        Entry(
            name,
            .report { _ in
                log.names.append(name)
                let round = log.names.filter { $0 == name }.count - 1
                return Sample(count: 10, wall: 5000, processor: processor[round % processor.count])
            })
    }

    private final class Log { var names: [String] = [] }

    @Test func entriesRunInAlternation() async throws {
        let log = Log()
        let job = BenchmarkCase(
            "job", unit: "run",
            entries: [reporting("a", processor: [1], log: log), reporting("b", processor: [1], log: log)])
        _ = try await Runner(plan).run(job, group: "test")
        #expect(
            log.names == ["a", "b"] + ["a", "b", "a", "b", "a", "b", "a", "b"], "one warm-up, then the rounds"
        )
    }

    @Test func whatNothingDisturbsRunsOnce() async throws {
        let log = Log()
        let job = BenchmarkCase(
            "job", unit: "run", isSteady: true,
            entries: [reporting("a", processor: [1], log: log), reporting("b", processor: [1], log: log)])
        _ = try await Runner(plan).run(job, group: "test")
        #expect(log.names == ["a", "b"])
    }

    @Test func ratiosAreTakenRoundByRound() async throws {
        let log = Log()
        let drift: [Double] = [0, 100, 200, 400, 800]
        let job = BenchmarkCase(
            "job", unit: "run",
            entries: [
                reporting("reference", processor: drift, log: log),
                reporting("half", processor: drift.map { $0 / 2 }, log: log),
            ])
        let results = try await Runner(plan).run(job, group: "test")
        let ratio = try #require(results[1].ratio)
        #expect(ratio.p10 == 0.5 && ratio.median == 0.5 && ratio.p90 == 0.5, "drift cancels out")
        #expect(results[0].ratio == nil, "the reference has no ratio to itself")
        #expect(results[0].value?.median == 30)
        #expect(results[0].identifier == "test/job/reference")
    }

    @Test func anAbsentReferenceLeavesTheOthersWithoutRatio() async throws {
        let job = BenchmarkCase(
            "job", unit: "run",
            entries: [
                Entry("peer", .absent("not installed")),
                Entry("own", goals: Goals(ratio: 0.5), .loop { times in keep(times) }),
            ])
        let results = try await Runner(plan).run(job, group: "test")
        #expect(results[0].absent == "not installed")
        #expect(results[0].value == nil)
        #expect(results[1].samples == 4)
        #expect(results[1].ratio == nil)
        #expect(results[1].missedGoals.isEmpty, "an unknown ratio is not a missed one")
        let lines = Presentation.lines(results)
        #expect(lines.contains("  peer: skipped: not installed"))
        #expect(lines.first { $0.hasPrefix("  own") }?.hasSuffix(" -  -     -") == true, "no ratio is shown")
    }

    @Test func aRivalGivesASecondRatioAndAGoalOnIt() async throws {
        let log = Log()
        let job = BenchmarkCase(
            "job", unit: "run", rival: "rival",
            entries: [
                reporting("reference", processor: [10], log: log),
                reporting("rival", processor: [40], log: log),
                Entry(
                    "own", goals: Goals(ratio: 2.5, rivalRatio: 0.4),
                    .report { _ in Sample(count: 10, wall: 1, processor: 20) }),
            ])
        let results = try await Runner(plan).run(job, group: "test")
        #expect(results.map { $0.ratio?.median } == [nil, 4, 2])
        #expect(results.map { $0.rivalRatio?.median } == [0.25, nil, 0.5])
        #expect(results[2].missedGoals == ["ratio to rival 0.50 > 0.40"])
        let lines = Presentation.lines(results)
        #expect(lines.contains { $0.contains("to rival") }, "the second ratio has a column")
    }

    struct Reached: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let figures: [String: Double]
        let missed: [String]
    }

    @Test(arguments: [
        Reached(testDescription: "above the bound", figures: ["resumed %": 99.5], missed: []),
        Reached(testDescription: "at it", figures: ["resumed %": 99], missed: ["resumed % 99.00 <= 99.00"]),
        Reached(testDescription: "not said", figures: [:], missed: ["resumed % not reported"]),
    ])
    func aFigureIsMeantToBeAboveABound(_ row: Reached) async throws {
        let job = BenchmarkCase(
            "job", unit: "run",
            entries: [
                Entry(
                    "own", goals: Goals(above: ["resumed %": 99]),
                    .report { _ in Sample(count: 1, wall: 1, processor: 1, figures: row.figures) })
            ])
        let results = try await Runner(plan).run(job, group: "test")
        #expect(results[0].missedGoals == row.missed)
    }

    @Test func anAbsentEntryMissesNoGoal() async throws {
        let goals = Goals(ratio: 1, rivalRatio: 1, above: ["resumed %": 99])
        let job = BenchmarkCase(
            "job", unit: "run", entries: [Entry("own", goals: goals, .absent("not here"))])
        #expect(try await Runner(plan).run(job, group: "test")[0].missedGoals.isEmpty)
    }

    @Test func anEntryThatFailsStopsTheRun() async {
        struct Failure: Error {}
        let job = BenchmarkCase("job", unit: "run", entries: [Entry("own", .loop { _ in throw Failure() })])
        await #expect(throws: Failure.self) { try await Runner(plan).run(job, group: "test") }
    }

    @Test func allocationsAreCountedPerRun() async throws {
        let job = BenchmarkCase(
            "job", unit: "run",
            entries: [
                Entry("none", .loop { times in for index in 0..<times { keep(index) } }),
                Entry(
                    "three", goals: Goals(allocations: 2),
                    .loop { times in
                        for index in 0..<times {
                            for size in [100, 200, 300] {
                                keep(Int(bitPattern: ObjectIdentifier(Block(size: size + index % 2))))
                            }
                        }
                    }),
            ])
        let results = try await Runner(plan).run(job, group: "test")
        #expect(results[0].allocations == 0)
        #expect(try #require(results[1].allocations) >= 3)
        #expect(results[1].missedGoals.count == 1)
    }

    private final class Block {
        let bytes: [UInt8]
        init(size: Int) { bytes = [UInt8](repeating: 1, count: size) }
    }

    @Test func workOnOtherThreadsIsCountedForAsyncLoops() async throws {
        let job = BenchmarkCase(
            "job", unit: "run",
            entries: [
                Entry(
                    "tasks",
                    .asyncLoop { times in
                        for _ in 0..<times {
                            await Task.detached { keep([UInt8](repeating: 1, count: 5000).count) }.value
                        }
                    })
            ])
        let results = try await Runner(plan).run(job, group: "test")
        #expect(try #require(results[0].allocations) >= 1)
    }

    @Test func figuresOfTheEntrysOwnCanBeTheMetric() async throws {
        func resident(_ name: String, _ amount: Double) -> Entry {
            Entry(
                name,
                .report { _ in Sample(count: 1, wall: 1, processor: 1, figures: ["resident KiB": amount]) })
        }
        let job = BenchmarkCase(
            "job", unit: "connection", metric: .figure("resident KiB"),
            entries: [resident("peer", 20), resident("own", 5)])
        let results = try await Runner(plan).run(job, group: "memory")
        #expect(results[1].value?.median == 5)
        #expect(results[1].ratio?.median == 0.25)
    }

    struct Step: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let times: Int
        let took: Double
        let next: Int
    }

    @Test(arguments: [
        Step(testDescription: "aims a fifth above", times: 100, took: 1000, next: 120_000 / 100),
        Step(testDescription: "leaps at most hundredfold", times: 1, took: 0, next: 100),
        Step(testDescription: "always grows", times: 10, took: 1e9, next: 11),
        Step(testDescription: "has an upper end", times: 1_000_000_000_000, took: 1, next: 1_000_000_000_000),
    ])
    func iterationsGrow(_ step: Step) {
        #expect(Runner.nextTimes(after: step.times, took: step.took, wanted: 10_000) == step.next)
    }
}
