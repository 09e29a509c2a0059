// SPDX-License-Identifier: MIT
import Foundation
import FoundationXML
import Testing

@testable import BenchmarkHarness

/// The images and tables that a run can be written as.
@Suite struct ChartTests {
    /// Checks that a text is well-formed XML, and counts its elements by name and class.
    private final class Reader: NSObject, XMLParserDelegate {
        var counts: [String: Int] = [:]

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            counts[name + "." + (attributes["class"] ?? ""), default: 0] += 1
        }
    }

    private func read(_ svg: String) throws -> [String: Int] {
        let parser = XMLParser(data: Data(svg.utf8))
        let reader = Reader()
        parser.delegate = reader
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        return reader.counts
    }

    @Test func aBarForEachEntryThatRan() async throws {
        let measured = try await results([
            (entry("floor"), 10), (entry("peer <&> \"x\""), 30), (Entry("gone", .absent("not here")), 0),
            (entry("own", isOurs: true, goals: Goals(ratio: 2.5)), 20),
        ])
        let counts = try read(Chart("pipeline", measured).svg)
        #expect(counts["rect.reference"] == 1 && counts["rect.peer"] == 1 && counts["rect.ours"] == 1)
        #expect(counts["rect.goal"] == 1, "the goal is marked")
        #expect(counts["path.cut"] == nil, "no bar is cut")
    }

    @Test func aBarThatWouldCrushTheOthersIsCut() async throws {
        let measured = try await results([
            (entry("floor"), 10), (entry("far"), 10_000), (entry("own", isOurs: true), 20),
        ])
        let svg = Chart("pipeline", measured).svg
        #expect(try read(svg)["path.cut"] == 1)
        #expect(svg.contains("(1000.00 x)"), "its figure still stands there")
    }

    @Test func bothSchemesHaveColours() async throws {
        let svg = Chart("g", try await results([(entry("floor"), 10)])).svg
        #expect(svg.contains("prefers-color-scheme: dark"))
    }

    @Test func nothingIsStillAPicture() throws {
        #expect(try read(Chart("empty", []).svg)["svg."] == 1)
    }

    struct Scale: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let lengths: [Double]
        let ours: [Bool]
        let scale: Double
    }

    @Test(arguments: [
        Scale(
            testDescription: "the longest fills the width", lengths: [1, 3], ours: [false, true], scale: 3),
        Scale(
            testDescription: "a far peer does not", lengths: [1, 50, 2], ours: [false, false, true], scale: 5),
        Scale(
            testDescription: "without ours the reference counts", lengths: [1, 4], ours: [false, false],
            scale: 2.5),
        Scale(testDescription: "nothing", lengths: [], ours: [], scale: 0),
    ])
    func scales(_ row: Scale) {
        #expect(Chart.scale(row.lengths, isOurs: row.ours) == row.scale)
    }

    @Test func tablesOfMarkdown() async throws {
        let measured = try await results(
            [
                (entry("floor"), 10), (entry("rival"), 40),
                (entry("a|b", isOurs: true, goals: Goals(ratio: 1.5)), 20),
                (Entry("gone", .absent("not here")), 0),
            ], rival: "rival")
        let text = MarkdownReport(Report(machine: "m", entries: measured)).text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "Measured on m.")
        #expect(lines.contains("| job | floor | 10.0 cpu ns/run, size 10.0 | 1 | 1 | 0.25 x rival |  |"))
        #expect(
            lines.contains(
                "| job | a\\|b | 20.0 cpu ns/run, size 20.0 | 2.00 ± 0 % | 2.00 | 0.50 x rival | missed: ratio 2.00 > 1.50 |"
            ))
        #expect(lines.contains("- job, gone: skipped: not here"))
    }

    @Test func theProgramWritesThem() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "charts-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let group = BenchmarkGroup("g", "one case") {
            [
                BenchmarkCase(
                    "job", unit: "run",
                    entries: [Entry("own", .report { _ in Sample(count: 1, wall: 1, processor: 5) })])
            ]
        }
        let table = folder.appending(path: "table.md").path
        let status = await Program([group]).run(["--quick", "--charts", folder.path, "--markdown", table])
        #expect(status == 0)
        #expect(try String(contentsOfFile: table, encoding: .utf8).contains("### g"))
        #expect(FileManager.default.fileExists(atPath: folder.appending(path: "g.svg").path))
    }

    @Test func anEntryCanBeLooped() async {
        let calls = Calls()
        let group = BenchmarkGroup("g", "a loop") {
            [BenchmarkCase("job", unit: "run", entries: [Entry("C, a/b", .loop { calls.times += $0 })])]
        }
        #expect(await Program([group]).run(["--loop", "g/job/C, a/b", "7"]) == 0)
        #expect(calls.times == 7)
        #expect(await Program([group]).run(["--loop", "g/job/other", "7"]) == 2)
    }

    private final class Calls { var times = 0 }
}
