// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Checks that every Swift block of the README and of the pages is contained, line by line, in a compiled file of this target
/// or in a manifest of the tests.
@Suite struct SnippetTests {
    @Test func everySnippetIsCompiled() throws {
        let sources = try compiled()
        let pages = try Page.all()
        #expect(pages.count > 20)
        for page in pages {
            for snippet in page.blocks("swift").map(essence) where !snippet.isEmpty {
                let isCompiled = sources.contains { $0.contains(snippet) }
                #expect(
                    isCompiled,
                    "\(page.name): not in Tests/AsUsers/Snippets:\n\(snippet.joined(separator: "\n"))")
            }
        }
    }

    /// Returns the lines of the compiled files: those of this target, the manifests and sources of the tests' user packages,
    /// and the module `Alamofire`.
    private func compiled() throws -> [[String]] {
        let folder = Page.root.appending(path: "Tests/AsUsers/Snippets")
        let names = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
            .compactMap { $0 as? URL }
        let files = (names ?? []).filter { $0.pathExtension == "swift" }
        let others = [
            "Tests/AsUsers/Embedding/Package.swift", "Tests/AsUsers/AlamofireUser/Package.swift",
            "Tests/AsUsers/TestingUser/Package.swift",
            "Tests/AsUsers/TestingUser/Sources/Garden/Garden.swift",
            "Tests/AsUsers/TestingUser/Tests/GardenTests/GardenXCTests.swift",
            "Compatibility/Alamofire/Sources/Alamofire/Alamofire.swift",
        ]
        return try (files + others.map { Page.root.appending(path: $0) }).map {
            essence(try String(contentsOf: $0, encoding: .utf8).components(separatedBy: "\n"))
        }
    }

    /// Returns the lines without indentation, and without empty lines, imports (which are at the top of a file) and lines that
    /// only the tests need.
    private func essence(_ lines: [String]) -> [String] {
        lines.map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("import ") && !$0.hasSuffix("// not on the page") }
    }
}
