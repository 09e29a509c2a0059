// SPDX-License-Identifier: MIT
import BenchmarkHarness
import Foundation
import Testing

/// The check of a run against a budget.
@Suite struct BudgetTests {
    private func report(own: Double, absent: Bool = false) async throws -> Report {
        let ours =
            absent ? Entry("own", isOurs: true, .absent("not built")) : entry("own", isOurs: true)
        return Report(
            machine: "m",
            entries: try await results(
                [(entry("floor"), 10), (entry("rival"), 40), (ours, own)], rival: "rival"))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let limits: Budget.Row
        let isKept: Bool
        let line: String
    }

    static let rows = [
        Row(
            testDescription: "at its limits",
            limits: Budget.Row(entry: "g/job/own", value: 20, ratio: 2, rivalRatio: 0.5), isKept: true,
            line: "  kept: g/job/own: cpu ns 20.0 of 20.0, ratio 2.00 of 2.00, to rival 0.50 of 0.50"),
        Row(
            testDescription: "over the value", limits: Budget.Row(entry: "g/job/own", value: 19),
            isKept: false,
            line: "  over: g/job/own: cpu ns 20.0 of 19.0"),
        Row(
            testDescription: "over the ratio", limits: Budget.Row(entry: "g/job/own", ratio: 1.9),
            isKept: false,
            line: "  over: g/job/own: ratio 2.00 of 1.90"),
        Row(
            testDescription: "over the rival's", limits: Budget.Row(entry: "g/job/own", rivalRatio: 0.4),
            isKept: false, line: "  over: g/job/own: to rival 0.50 of 0.40"),
        Row(
            testDescription: "an entry that is gone", limits: Budget.Row(entry: "g/job/other", ratio: 9),
            isKept: false, line: "  over: g/job/other: not measured"),
        Row(
            testDescription: "a case that did not run", limits: Budget.Row(entry: "g/later/own", ratio: 9),
            isKept: false, line: "  nothing that the budget is about was measured"),
    ]

    @Test(arguments: rows)
    func judged(_ row: Row) async throws {
        let verdict = Budget(rows: [row.limits]).check(try await report(own: 20))
        #expect(verdict.isKept == row.isKept)
        #expect(verdict.lines.contains(row.line), "\(verdict.lines)")
    }

    @Test func whatIsAbsentIsSaidAndNoRunOfNothingPasses() async throws {
        let report = try await report(own: 20, absent: true)
        let verdict = Budget(rows: [Budget.Row(entry: "g/job/own", ratio: 1)]).check(report)
        #expect(verdict.lines.contains("  skipped: g/job/own: not built"))
        #expect(!verdict.isKept)
    }

    @Test func aBudgetOfARunHasAMarginAndOnlyTheLibrarysEntries() async throws {
        let report = try await report(own: 20)
        let budget = Budget(report, margin: 0.25)
        #expect(budget.rows == [Budget.Row(entry: "g/job/own", value: 25, ratio: 2.5, rivalRatio: 0.625)])
        #expect(budget.check(report).isKept)
        #expect(budget.check(try await self.report(own: 25)).isKept)
        #expect(!budget.check(try await self.report(own: 25.1)).isKept)
    }

    @Test func aRatioToNextToNothingIsNoLimit() async throws {
        let budget = Budget(try await report(own: 1001), margin: 0.25)
        #expect(budget.rows == [Budget.Row(entry: "g/job/own", value: 1252, rivalRatio: 31.282)])
    }

    @Test func theProgramWritesItReadsItAndEndsWithOneWhenItIsBroken() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "budget-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "BUDGET.json").path
        func program(cost: Double) -> Program {
            Program([
                BenchmarkGroup("g", "one case") {
                    [
                        BenchmarkCase(
                            "job", unit: "run",
                            entries: [
                                Entry(
                                    "own", isOurs: true,
                                    .report { _ in Sample(count: 1, wall: 1, processor: cost) })
                            ])
                    ]
                }
            ])
        }
        #expect(await program(cost: 100).run(["--quick", "--budget", path]) == 0)
        #expect(await program(cost: 124).run(["--quick", "--check", path]) == 0)
        #expect(await program(cost: 126).run(["--quick", "--check", path]) == 1)
        #expect(await program(cost: 1).run(["--quick", "--check", path + ".json"]) == 2, "no such file")
    }
}
