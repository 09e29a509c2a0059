// SPDX-License-Identifier: MIT
import BenchmarkHarness
import Testing

/// The statistics of all figures.
@Suite struct SummaryTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let values: [Double]
        let median: Double
        let deviation: Double
        let p10: Double
        let p90: Double
    }

    static let rows = [
        Row(
            testDescription: "one value is its own middle", values: [7], median: 7, deviation: 0, p10: 7,
            p90: 7),
        Row(
            testDescription: "an even count takes the middle of two", values: [4, 1, 3, 2], median: 2.5,
            deviation: 1, p10: 1.3, p90: 3.7),
        Row(
            testDescription: "one wild value moves neither middle nor deviation",
            values: [10, 11, 9, 10, 1e9],
            median: 10, deviation: 1, p10: 9.4, p90: 600_000_004.4),
        Row(
            testDescription: "eleven values meet the percentiles exactly",
            values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], median: 5, deviation: 3, p10: 1, p90: 9),
        Row(
            testDescription: "equal values have no spread", values: [3, 3, 3], median: 3, deviation: 0,
            p10: 3, p90: 3),
    ]

    @Test(arguments: rows)
    func summary(_ row: Row) throws {
        let summary = try #require(Summary(row.values))
        #expect(summary.median == row.median)
        #expect(summary.deviation == row.deviation)
        #expect(abs(summary.p10 - row.p10) < 1e-6)
        #expect(abs(summary.p90 - row.p90) < 1e-6)
        #expect(summary.least == row.values.min())
    }

    @Test func nothingHasNoSummary() {
        #expect(Summary([]) == nil)
    }

    @Test func theOrderOfValuesDoesNotMatter() {
        #expect(Summary([3, 1, 2, 9, 4]) == Summary([9, 4, 3, 2, 1]))
    }

    @Test func spreadIsHalfTheRangeAsAPartOfTheMedian() throws {
        let summary = try #require(Summary([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))
        #expect(summary.spread == 0.8)
        #expect(try #require(Summary([0, 0])).spread == 0)
    }

    @Test func apartMeansNoOverlap() throws {
        let low = try #require(Summary([1, 2, 3]))
        let near = try #require(Summary([2, 3, 4]))
        let high = try #require(Summary([7, 8, 9]))
        #expect(!low.isApart(from: near))
        #expect(low.isApart(from: high))
        #expect(high.isApart(from: low))
        #expect(!low.isApart(from: low))
    }
}
