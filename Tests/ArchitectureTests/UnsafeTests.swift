// SPDX-License-Identifier: MIT
import Testing

/// Tests that the list of files with unsafe code is complete and exact.
///
/// Fuzz targets and benchmarks are not checked: they call C, and no program links them.
struct UnsafeTests {
    @Test func unsafeCodeIsListed() throws {
        let ledger = UnsafeLedger(text: try Repository.here.text(UnsafeLedger.path))
        let violations = ledger.violations(in: try Repository.here.swiftFiles(under: "Sources", "Tests"))
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test(arguments: [
        ("unsafe read(fd)", 1, 1), ("final class A: @unchecked Sendable {}", 1, 1),
        ("nonisolated(unsafe) var a = 1", 1, 1),
        ("@safe struct A {}", 1, 1), ("@unsafe func a() {}", 1, 1), ("a.withUnsafeBytes { $0 }", 1, 0),
        ("let a: UnsafeMutableRawBufferPointer", 1, 0), ("let a: OpaquePointer?", 1, 0),
        ("for unsafe a in unsafe b {}", 2, 2),
        ("// unsafe", 0, 0), ("\"unsafe\"", 0, 0), ("a.unsafe", 0, 0), ("safe()", 0, 0),
        ("Unchecked.unchecked", 0, 0),
        ("\"\\(unsafe a)\"", 1, 1),
    ])
    func tracesAndMarksAreCounted(_ text: String, _ traces: Int, _ marks: Int) {
        let file = SourceFile(path: "Sources/A.swift", text: text)
        #expect(UnsafeLedger.traces(in: file).count == traces)
        #expect(UnsafeLedger.marks(in: file) == marks)
    }

    @Test func anUnlistedFileIsReportedWithTheLineToAdd() throws {
        let file = SourceFile(path: "Sources/A.swift", text: "let a = 1\nunsafe b()\n")
        let violation = try #require(UnsafeLedger(text: "").violations(in: [file]).first)
        #expect(violation.path == "Sources/A.swift" && violation.line == 2)
        #expect(violation.rule.hasSuffix("Sources/A.swift | 1 | <reason>"))
    }

    @Test(arguments: [
        ("Sources/A.swift | 1 | a syscall", true), ("# a comment\n\nSources/A.swift | 1 | a syscall\n", true),
        ("Sources/A.swift | 2 | a syscall", false), ("Sources/A.swift | 1 |", false),
        ("Sources/A.swift a syscall", false),
        ("Sources/A.swift | 1 | a\nSources/A.swift | 1 | b", false),
        ("Sources/A.swift | 1 | a\nSources/Gone.swift | 1 | b", false),
        ("Sources/A.swift | 1 | a\nSources/B.swift | 1 | b", false),
    ])
    func theListMatchesTheFiles(_ list: String, _ isClean: Bool) {
        let files = [
            SourceFile(path: "Sources/A.swift", text: "unsafe b()"),
            SourceFile(path: "Sources/B.swift", text: "b()"),
        ]
        let violations = UnsafeLedger(text: list).violations(in: files)
        #expect(violations.isEmpty == isClean, "\(violations.report)")
    }
}
