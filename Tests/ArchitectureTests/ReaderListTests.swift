// SPDX-License-Identifier: MIT
import Foundation
import Testing

/// Tests that the lists of scripts and of test folders in the documentation are complete.
struct ReaderListTests {
    /// The scripts that a user may run, as paths from the root.
    private static var scripts: [String] {
        (Repository.here.paths(under: ".ci", endingIn: [""])
            + Repository.here.paths(under: "Scripts", endingIn: [""]))
            .filter { FileManager.default.isExecutableFile(atPath: "\(Repository.here.root)/\($0)") }
    }

    @Test func theListOfScriptsHasALineForEach() throws {
        let (status, output) = try Script.run("Scripts/help")
        #expect(status == 0)
        let rows = output.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1) }
        #expect(rows.map { String($0[0]) }.sorted() == Self.scripts)
        for row in rows {
            let line = row.count == 2 ? row[1].drop(while: \.isWhitespace) : ""
            #expect(line.hasSuffix("."), "\(row[0]): the first line of its head comment is one sentence")
            #expect(line.count <= 110, "\(row[0]): its line is longer than 110 characters")
        }
    }

    @Test func contributingNamesEachScript() throws {
        let rows = try Repository.here.text("CONTRIBUTING.md").split(separator: "\n")
        for script in Self.scripts {
            #expect(
                rows.contains { $0.hasPrefix("| `\(script)`") || $0.hasPrefix("| `\(script) ") },
                "CONTRIBUTING.md: the table of commands has no row for \(script)")
        }
    }

    @Test func theReadmeOfTheTestsNamesEachFolder() throws {
        let tests = "\(Repository.here.root)/Tests"
        let folders = try FileManager.default.contentsOfDirectory(atPath: tests).filter { name in
            let kind = try FileManager.default.attributesOfItem(atPath: "\(tests)/\(name)")[.type]
            return kind as? FileAttributeType == .typeDirectory && !name.hasPrefix(".")
        }
        #expect(Self.firstColumn(of: try Repository.here.text("Tests/README.md")) == folders.sorted())
    }

    @Test func namesAreReadFromTheFirstColumn() {
        let page = """
            Words with `code`.

            | folder | what |
            |---|---|
            | `B`, `A` | both, see `D` |
            | `C` | one |
            """
        #expect(Self.firstColumn(of: page) == ["A", "B", "C"])
    }

    /// Returns the code in the first column of the tables of a page, sorted.
    private static func firstColumn(of page: String) -> [String] {
        page.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { row in
            let cell = row.dropFirst().prefix { $0 != "|" }
            return cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        }
        .sorted()
    }
}
