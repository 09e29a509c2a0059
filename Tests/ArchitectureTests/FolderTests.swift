// SPDX-License-Identifier: MIT

import Testing

/// Tests that the folders of each module depend on each other in one direction, and that its page lists their uses.
struct FolderTests {
    @Test func foldersDependInOneDirection() throws {
        var found: [(rule: String, violation: Violation)] = []
        for module in ImportRule.modules {
            let files = try Repository.here.swiftFiles(under: "Sources/\(module.name)")
            let rule = FolderRule(module: module.name, files: files)
            if rule.sizes.count < 2 { continue }
            found += rule.violations(page: try Repository.here.text(FolderRule.page(of: module.name)))
        }
        let text = try Repository.here.text(FolderRule.exemptionsPath)
        let report = Exemptions(path: FolderRule.exemptionsPath, text: text).applied(to: found)
        #expect(report.isEmpty, "\(report.report)")
    }

    static let files = [
        SourceFile(path: "Sources/M/Low/A.swift", text: "struct A { struct Inner {} }\nprivate enum Own {}"),
        SourceFile(
            path: "Sources/M/High/B.swift", text: "import struct C.D\nfinal class B: A { let own = Own() }"),
        SourceFile(
            path: "Sources/M/High/Inside/C.swift", text: "// B\nlet text = \"B\"\nextension A { let b: B }"),
        SourceFile(path: "Sources/M/Word.swift", text: "typealias Word = Inner"),
    ]

    @Test func usesAreFound() {
        let rule = FolderRule(module: "M", files: Self.files)
        #expect(rule.sizes == ["Low": 1, "High": 1, "High/Inside": 1, ".": 1])
        #expect(
            rule.uses == ["High": ["Low": ["B (A)"]], "High/Inside": ["Low": ["C (A)"], "High": ["C (B)"]]])
    }

    @Test func pagesAreRead() {
        let page = """
            # M

            - `Other`: no folder.

            ## Folders

            - `.`: words.
            - `Low`: types, and `A`
              of them. Uses `.`,
              `Other/One`.

            ## After

            - `After`: nothing.
            """
        #expect(
            FolderRule.rows(in: page) == [
                FolderRule.Row(folder: ".", uses: []),
                FolderRule.Row(folder: "Low", uses: [".", "Other/One"]),
            ])
        #expect(FolderRule.rows(in: "# M").isEmpty)
    }

    @Test(arguments: [
        ("- `.`: a.\n- `Low`: b.\n- `High`: c. Uses `Low`.\n- `High/Inside`: d. Uses `Low`, `High`.", []),
        (
            "- `.`: a.\n- `High`: c. Uses `Low`.\n- `Low`: b.\n- `High/Inside`: d. Uses `Low`, `High`.",
            ["High -> Low"]
        ),
        (
            "- `.`: a.\n- `Low`: b.\n- `High`: c.\n- `High/Inside`: d. Uses `High`, `.`, `Low`.",
            ["list", "list"]
        ),
        ("- `.`: a.\n- `Low`: b.\n- `High`: c. Uses `Low`.\n- `Gone`: d.", ["list", "list"]),
    ])
    func violationsAreReported(_ list: String, _ rules: [String]) {
        let rule = FolderRule(module: "M", files: Self.files)
        #expect(rule.violations(page: "## Folders\n\n\(list)\n").map(\.rule) == rules)
    }

    @Test func largeFoldersAreFound() {
        let files = (0..<21).map { SourceFile(path: "Sources/M/A/T\($0).swift", text: "struct T\($0) {}") }
        let rule = FolderRule(module: "M", files: files)
        #expect(rule.violations(page: "## Folders\n\n- `A`: a.\n").map(\.rule) == ["size"])
    }
}
