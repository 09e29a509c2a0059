// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Every Swift block of the README stands, line by line, in a file of this target, which the compiler has read.
@Suite struct SnippetTests {
    @Test func everySnippetOfTheReadmeIsCompiled() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let readme = folder.deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "README.md")
        let sources = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasSuffix("Snippets.swift") }
            .map { lines(of: try String(contentsOf: $0, encoding: .utf8)) }
        let snippets = blocks(in: try String(contentsOf: readme, encoding: .utf8))
        #expect(!snippets.isEmpty)
        for snippet in snippets {
            let isCompiled = sources.contains { $0.contains(snippet) }
            #expect(isCompiled, "not in Tests/Snippets:\n\(snippet.joined(separator: "\n"))")
        }
    }

    /// The lines of each block that is marked as Swift, without indentation and empty lines. Lines that import are
    /// left out: in a file they stand at its top.
    private func blocks(in markdown: String) -> [[String]] {
        markdown.components(separatedBy: "```swift\n").dropFirst().map { rest in
            lines(of: rest.components(separatedBy: "```")[0]).filter { !$0.hasPrefix("import ") }
        }
    }

    private func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
