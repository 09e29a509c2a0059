// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Checks that the table and the tests of this target correspond.
@Suite struct SnippetTableTests {
    @Test func everyRowHasItsTestAndEveryTestItsRow() throws {
        var named = Set(SnippetTable.besides)
        for case .tested(let test) in SnippetTable.rows.map(\.standing) { named.insert(test) }
        let there = try tests()
        #expect(named.subtracting(there).sorted() == [], "rows that name no test")
        #expect(there.subtracting(named).sorted() == [], "tests without a row")
    }

    /// Checks that the snippets under one heading are numbered from 1 without duplicates.
    @Test(arguments: Snippet.Guide.allCases)
    func snippetsAreCounted(_ guide: Snippet.Guide) {
        var numbers: [String: [Int]] = [:]
        for row in SnippetTable.rows where row.guides.contains(guide) {
            numbers[row.heading, default: []].append(row.number)
        }
        #expect(!numbers.isEmpty)
        for (heading, found) in numbers {
            #expect(found == Array(1...found.count), "\(guide.rawValue): \(heading)")
        }
    }

    /// Returns `Suite/function` for every test in a file whose name ends in `Snippets`.
    private func tests() throws -> Set<String> {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
            .compactMap { $0 as? URL }
            .filter { $0.lastPathComponent.hasSuffix("Snippets.swift") }
        var tests: Set<String> = []
        for file in try #require(files) {
            let text = try String(contentsOf: file, encoding: .utf8)
            let suite = file.deletingPathExtension().lastPathComponent
            #expect(text.contains("@Suite struct \(suite) {"), "\(suite)")
            for match in text.matches(of: #/@Test(?:\([^\n]*\))?\s+func (\w+)\(/#) {
                tests.insert("\(suite)/\(match.1)")
            }
        }
        return tests
    }
}
