// SPDX-License-Identifier: MIT

import Foundation

/// A page of the documentation, as the tests parse it.
struct Page {
    /// The root of the repository.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Returns every page: the README and the chapters of the catalogue.
    static func all() throws -> [Page] {
        let catalogue = root.appending(path: "Documentation/Lupine.docc")
        let chapters = try FileManager.default.contentsOfDirectory(
            at: catalogue, includingPropertiesForKeys: nil
        )
        .filter { $0.pathExtension == "md" }
        return try ([root.appending(path: "README.md")] + chapters).map { try Page(at: $0) }
    }

    let name: String
    let text: String

    /// Reads a chapter, by the name of its file.
    init(_ name: String) throws {
        try self.init(at: Page.root.appending(path: "Documentation/Lupine.docc/\(name)"))
    }

    private init(at place: URL) throws {
        name = place.lastPathComponent
        text = try String(contentsOf: place, encoding: .utf8)
    }

    /// Returns the lines of each code block in this language.
    func blocks(_ language: String) -> [[String]] {
        text.components(separatedBy: "```\(language)\n").dropFirst().map { rest in
            rest.components(separatedBy: "```")[0].split(separator: "\n").map(String.init)
        }
    }
}
