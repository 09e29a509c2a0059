// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Every Swift block of the README and of the pages stands, line by line, in a file of this target or in a manifest of the
/// tests, which the compiler has read.
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

    /// What was compiled: the files of this target, the manifests and sources of the tests' users, and the module `Alamofire`.
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

    /// The lines without indentation, without the empty ones, without those that import (in a file they stand at its top),
    /// and without those by which a test hears of what happens.
    private func essence(_ lines: [String]) -> [String] {
        lines.map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("import ") && !$0.hasSuffix("// not on the page") }
    }
}
