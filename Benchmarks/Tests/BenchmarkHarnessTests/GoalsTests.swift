// SPDX-License-Identifier: MIT
import BenchmarkHarness
import Testing

/// The goals that a result misses, beyond the metric's ratio.
@Suite struct GoalsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let goals: Goals
        let missed: [String]
    }

    static let rows = [
        Row(testDescription: "time within the goal", goals: Goals(wallRatio: 2), missed: []),
        Row(testDescription: "time over it", goals: Goals(wallRatio: 1.5), missed: ["time 2.00 > 1.50"]),
        Row(testDescription: "faster than the rival", goals: Goals(rivalWallRatio: 0.5), missed: []),
        Row(
            testDescription: "slower than the rival", goals: Goals(rivalWallRatio: 0.4),
            missed: ["time to rival 0.50 > 0.40"]),
        Row(testDescription: "a figure at its limit", goals: Goals(below: ["size": 20]), missed: []),
        Row(
            testDescription: "a figure over its limit", goals: Goals(below: ["size": 19]),
            missed: ["size 20.00 > 19.00"]),
        Row(
            testDescription: "a figure that is not told", goals: Goals(below: ["weight": 19]),
            missed: ["weight not reported"]),
    ]

    @Test(arguments: rows)
    func goals(_ row: Row) async throws {
        let measured = try await results(
            [(entry("floor"), 10), (entry("rival"), 40), (entry("own", goals: row.goals), 20)], rival: "rival"
        )
        #expect(measured[2].missedGoals == row.missed)
    }

    @Test func instructionsCanBeTheMetric() async throws {
        let measured = try await results([(entry("floor"), 10), (entry("own"), 25)], metric: .instructions)
        #expect(measured[1].value?.median == 2500)
        #expect(measured[1].ratio?.median == 2.5)
    }
}
