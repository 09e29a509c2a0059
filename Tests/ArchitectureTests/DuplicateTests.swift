// SPDX-License-Identifier: MIT

import Testing

/// Tests that the sources have no duplicated code.
struct DuplicateTests {
    @Test func noCodeIsDuplicated() throws {
        let rule = DuplicateRule(try Repository.here.swiftFiles(under: "Sources"))
        let found = rule.violations
        #expect(found.isEmpty, "\(found.report)")
    }

    /// Returns `count` lines of code, which depend on `start`.
    static func code(_ count: Int, from start: Int = 0) -> String {
        (start..<(start + count)).map { "let a\($0) = b(\($0), \"text\")  // \(start)\n" }.joined()
    }

    @Test func runsAreFound() {
        let rule = DuplicateRule([
            SourceFile(path: "A.swift", text: "a()\n" + Self.code(12) + "b()\n"),
            SourceFile(path: "B.swift", text: "c()\n\n" + Self.code(12) + "d()\n" + Self.code(11, from: 50)),
            SourceFile(path: "C.swift", text: Self.code(10) + "e()\n" + Self.code(11, from: 50)),
        ])
        #expect(
            rule.runs == [
                .init(first: "A.swift", firstLine: 2, second: "B.swift", secondLine: 3, count: 12),
                .init(first: "B.swift", firstLine: 16, second: "C.swift", secondLine: 12, count: 11),
            ])
    }

    @Test func aRunInOneFileIsFound() {
        let rule = DuplicateRule([
            SourceFile(path: "A.swift", text: Self.code(11) + "b()\n" + Self.code(11))
        ])
        #expect(
            rule.runs == [
                .init(first: "A.swift", firstLine: 1, second: "A.swift", secondLine: 13, count: 11)
            ])
        #expect(rule.violations.count == 1)
    }

    @Test(arguments: [
        ("// The same as in `B`: why\n", "// It is the same as in `A`: why\n", 0),
        ("// The same as in `B`: why\n", "", 1),
        ("let text = \"same as in `B`: \"\n", "// same as in `A`: why\n", 1),
        ("// The same as in `B`\n", "// The same as in `A`: why\n", 1),
    ])
    func duplicatesThatNameEachOtherArePermitted(_ first: String, _ second: String, _ count: Int) {
        let rule = DuplicateRule([
            SourceFile(path: "A.swift", text: first + Self.code(11)),
            SourceFile(path: "B.swift", text: second + Self.code(11)),
        ])
        #expect(rule.violations.count == count)
    }
}
