// SPDX-License-Identifier: MIT
import Testing

/// Tests of the changelog: its form, and that its newest version is that of the library.
struct ChangelogTests {
    @Test func theChangelogHasItsForm() throws {
        let faults = Self.faults(in: try Repository.here.text("CHANGELOG.md"))
        #expect(faults.isEmpty, "CHANGELOG.md: \(faults)")
    }

    @Test func theNewestVersionIsTheLibrarys() throws {
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
    func eachFaultIsFound(_ text: String, _ count: Int) {
        #expect(Self.faults(in: text).count == count)
    }

    private static let groups: Set = ["### Added", "### Changed", "### Fixed", "### Security"]

    /// Returns the versions that have a heading, newest first.
    private static func versions(in text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: /## (\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}/).map { String($0.1) }
        }
    }

    /// Returns the lines that do not belong in a changelog, and what is missing from it.
    private static func faults(in text: String) -> [String] {
        let lines = text.split(separator: "\n").map(String.init)
        let headings = lines.filter { $0.hasPrefix("## ") }
        var faults: [String] = []
        if headings.first != "## Unreleased" { faults.append("the first heading is not `## Unreleased`") }
        let known = Set(versions(in: text))
        if known.isEmpty && headings.count < 2 { faults.append("there is no version") }
        for heading in headings where heading != "## Unreleased" {
            let version = heading.dropFirst(3).prefix { $0 != " " }
            if !known.contains(String(version)) {
                faults.append("`\(heading)` is not `## 1.2.3 - 2026-01-31`")
            }
        }
        faults += lines.filter { $0.hasPrefix("### ") && !groups.contains($0) }.map { "`\($0)` is no group" }
        var group = ""
        for line in lines {
            if line.hasPrefix("## ") { group = "" }
            if line.hasPrefix("### ") { group = line }
            if line.hasPrefix("- "), group.isEmpty { faults.append("`\(line)` is in no group") }
        }
        return faults
    }
}
