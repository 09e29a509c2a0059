// SPDX-License-Identifier: MIT
import BenchmarkHarness
import Foundation
import Testing

/// Command line, tables and files.
@Suite struct ReportTests {
    @Test func optionsAreRead() throws {
        let options = try Options([
            "http", "--filter", "head", "--quick", "coding", "--json", "a", "--compare", "b",
        ])
        #expect(options.groups == ["http", "coding"])
        #expect(options.filter == "head" && options.json == "a" && options.compare == "b")
        #expect(options.isQuick && !options.listsCases && !options.checksGoals)
    }

    @Test func aBudgetIsToldFromAGroup() throws {
        let gated = try Options(["--check", "BUDGET.json", "http"])
        #expect(gated.budget == "BUDGET.json" && !gated.checksGoals && gated.groups == ["http"])
        let goals = try Options(["--check", "http"])
        #expect(goals.budget == nil && goals.checksGoals && goals.groups == ["http"])
        let written = try Options([
            "--budget", "b", "--charts", "c", "--markdown", "m", "--loop", "g/j/e", "3",
        ])
        #expect(written.newBudget == "b" && written.charts == "c" && written.markdown == "m")
        #expect(written.loop?.entry == "g/j/e" && written.loop?.times == 3)
    }

    @Test(arguments: [
        ["--wrong"], ["--json"], ["http", "--filter"], ["--loop", "a"], ["--loop", "a", "0"],
    ])
    func whatIsNotKnownIsRefused(_ arguments: [String]) {
        #expect(throws: UsageError.self) { try Options(arguments) }
    }

    @Test func anUnknownGroupEndsWithStatusTwo() async {
        #expect(await Program([]).run(["http"]) == 2)
    }

    @Test func aFailingEntryEndsWithStatusThree() async {
        struct Failure: Error {}
        let group = BenchmarkGroup("g", "fails") {
            [BenchmarkCase("job", unit: "run", entries: [Entry("own", .loop { _ in throw Failure() })])]
        }
        #expect(await Program([group]).run(["g", "--quick"]) == 3)
        #expect(await Program([group]).run(["g", "--list"]) == 0, "a list measures nothing")
    }

    @Test func aMissedGoalFailsOnlyWhenChecked() async {
        let group = BenchmarkGroup("g", "misses") {
            let entries = [("peer", 10.0), ("own", 20.0)].map { name, cost in
                Entry(
                    name, goals: Goals(ratio: name == "own" ? 0.5 : nil),
                    .report { _ in Sample(count: 1, wall: 1, processor: cost) })
            }
            return [BenchmarkCase("job", unit: "run", entries: entries)]
        }
        #expect(await Program([group]).run(["--quick"]) == 0)
        #expect(await Program([group]).run(["--quick", "--check"]) == 1)
    }

    @Test(arguments: [
        (0.5, 2, "0.50"), (1234.567, 1, "1234.6"), (-0.05, 1, "-0.1"), (-0.001, 1, "0.0"),
        (9.999, 2, "10.00"),
        (12, 0, "12"), (0.05, 3, "0.050"), (Double.infinity, 1, "inf"),
    ])
    func decimals(_ value: Double, _ places: Int, _ text: String) {
        #expect(decimal(value, places) == text)
    }

    @Test(arguments: [
        (3_580_000, "3.58M"), (512, "512"), (0.25, "0.25"), (12_345, "12.3k"), (9999, "9999"),
        (2.5e9, "2.50G"),
    ])
    func shortNumbers(_ value: Double, _ text: String) {
        #expect(short(value) == text)
    }

    @Test func tablesAlign() {
        var table = Table(["", "ns"])
        table.add(["a", "1"])
        table.add(["long", "100"])
        #expect(table.lines == ["         ns", "  a       1", "  long  100"])
    }

    private func report(_ costs: [(String, [Double])], machine: String = "m") async throws -> Report {
        let entries = costs.map { name, values in
            let calls = Calls()
            return Entry(
                name,
                .report { _ in
                    calls.count += 1
                    return Sample(count: 1, wall: 1, processor: values[(calls.count - 1) % values.count])
                })
        }
        let job = BenchmarkCase("job", unit: "run", entries: entries)
        let results = try await Runner(Plan(samples: 1, sampleTime: 1, reports: 3)).run(job, group: "g")
        return Report(machine: machine, entries: results)
    }

    private final class Calls { var count = 0 }

    @Test func reportsSurviveTheFile() async throws {
        let report = try await report([("a", [100]), ("b", [50])])
        let path = FileManager.default.temporaryDirectory.appending(path: "report-\(UUID()).json").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Program.write(report, to: path)
        #expect(try Program.read(Report.self, path) == report)
        #expect(throws: UsageError.self) { try Program.read(Report.self, path + ".absent") }
    }

    @Test func changesAreJudgedByTheRatio() async throws {
        let before = try await report([
            ("reference", [100]), ("better", [80]), ("same", [50]), ("worse", [50]),
        ])
        let now = try await report([
            ("reference", [200]), ("better", [80]), ("same", [100]), ("worse", [150]),
        ])
        let lines = Presentation.changes(from: before, to: now)
        func verdict(_ name: String) -> Substring? {
            lines.first { $0.contains("g/job/\(name) ") }?.split(separator: " ").last
        }
        #expect(verdict("better") == "better")
        #expect(verdict("same") == "same", "twice the time on a machine at half speed is no change")
        #expect(verdict("worse") == "worse")
    }

    @Test func whatIsNewOrElsewhereIsSaid() async throws {
        let lines = Presentation.changes(
            from: try await report([("a", [1])], machine: "other"), to: try await report([("b", [1])]))
        #expect(lines.contains("  g/job/b: not in the earlier report"))
        #expect(lines.contains("  The earlier report is of another machine: other"))
    }
}
