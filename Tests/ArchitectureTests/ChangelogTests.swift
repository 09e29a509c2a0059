// SPDX-License-Identifier: MIT
import Testing

/// Tests that the changelog is well-formed, and that its newest version is that of the library.
struct ChangelogTests {
    @Test func theChangelogIsWellFormed() throws {
        let problems = Self.problems(in: try Repository.here.text("CHANGELOG.md"))
        #expect(problems.isEmpty, "CHANGELOG.md: \(problems)")
    }

    @Test func theNewestVersionIsThatOfTheLibrary() throws {
        let newest = try #require(Self.versions(in: try Repository.here.text("CHANGELOG.md")).first)
        let source = try Repository.here.text("Sources/LupineLoading/Load/DefaultFields.swift")
        let constant = try #require(source.firstMatch(of: /let version = "([^"]*)"/)).1
        #expect(constant == newest)
    }

    @Test(arguments: [
        ("## Unreleased\n## 0.2.0 - 2026-01-31\n### Added\n- a\n## 0.1.0 - 2025-12-31\n### Security\n", 0),
        ("## 0.2.0 - 2026-01-31\n### Added\n", 1),
        ("## Unreleased\n### Removed things\n## 0.2.0 - 2026-01-31\n", 1),
        ("## Unreleased\n- a line in no group\n## 0.2.0 - 2026-01-31\n", 1),
        ("## Unreleased\n## 0.2 - 2026-01-31\n", 1),
        ("## Unreleased\n## 0.2.0\n", 1),
        ("## Unreleased\n", 1),
    ])
    func problemsAreFound(_ text: String, _ count: Int) {
        #expect(Self.problems(in: text).count == count)
    }

    private static let groups: Set = ["### Added", "### Changed", "### Fixed", "### Security"]

    /// Returns the versions that have a heading, newest first.
    private static func versions(in text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: /## (\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}/).map { String($0.1) }
        }
    }

    /// Returns descriptions of the lines that do not belong in a changelog, and of missing ones.
    private static func problems(in text: String) -> [String] {
        let lines = text.split(separator: "\n").map(String.init)
        let headings = lines.filter { $0.hasPrefix("## ") }
        var problems: [String] = []
        if headings.first != "## Unreleased" { problems.append("the first heading is not `## Unreleased`") }
        let known = Set(versions(in: text))
        if known.isEmpty && headings.count < 2 { problems.append("there is no version") }
        for heading in headings where heading != "## Unreleased" {
            let version = heading.dropFirst(3).prefix { $0 != " " }
            if !known.contains(String(version)) {
                problems.append("`\(heading)` is not `## 1.2.3 - 2026-01-31`")
            }
        }
        problems += lines.filter { $0.hasPrefix("### ") && !groups.contains($0) }
            .map { "`\($0)` is no group" }
        var group = ""
        for line in lines {
            if line.hasPrefix("## ") { group = "" }
            if line.hasPrefix("### ") { group = line }
            if line.hasPrefix("- "), group.isEmpty { problems.append("`\(line)` is in no group") }
        }
        return problems
    }
}
