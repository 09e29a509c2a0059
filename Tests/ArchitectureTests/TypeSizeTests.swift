// SPDX-License-Identifier: MIT
import Testing

/// Tests of the lengths of types, in the modules above the transport and in samples.
struct TypeSizeTests {
    @Test func typesHaveOneIdea() throws {
        let files = try Repository.here.swiftFiles(under: "Sources/LupineLoading", "Sources/Lupine")
        let rule = TypeSizeRule(files: files)
        // A scan that loses its place would find too few types.
        #expect(rule.sizes["TaskCore", default: 0] > 200 && rule.sizes["Request", default: 0] > 200)
        let violations = rule.violations(list: try Repository.here.text(TypeSizeRule.exemptionsPath))
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test(arguments: [
        ("struct A {\n var a = 1\n\n // b\n func b() {\n }\n}", ["A": 3]),
        ("struct A {\n var a = 1\n}\nextension A: B {\n var b = 2\n}", ["A": 2]),
        ("struct A { let a = 1 }", ["A": 1]),
        (
            "struct A {\n struct B {\n var b = 1\n }\n var a = 1\n}\nextension A.B {\n var c = 1\n}",
            ["A": 1, "A.B": 2]
        ),
        (
            "class A {\n public var a: Int {\n 1\n }\n public private(set) var b = 1\n open func c(\n ) -> B {\n }\n}",
            [:]
        ),
        ("class A {\n @discardableResult\n public func a() -> Self\n where B: C {\n self\n }\n}", [:]),
        ("public class A {\n package let a = 1\n private(set) var b = 2\n class func c() {}\n}", ["A": 3]),
        ("enum A {\n case a\n case b(\n C)\n typealias D =\n @Sendable () -> Void\n}", ["A": 5]),
        ("class A {\n let a: B = {\n 1\n }()\n\n public let b = C(\n )\n}", ["A": 3]),
        ("struct A {\n let a = \"\"\"\n text\n \"\"\"\n}", ["A": 1]),
        ("struct A {\n let a = \"{\"\n var b: C { \"\\(d { 1 })\" }\n}", ["A": 2]),
        ("protocol A {\n var a: B { get }\n func c() ->\n D\n}\nfunc e() {}", ["A": 3]),
        ("final class A<B> where B: C {\n init() {\n struct D {\n }\n }\n}", ["A": 4]),
    ])
    func linesOfCodeAreCounted(_ text: String, _ sizes: [String: Int]) {
        #expect(TypeSizeRule(files: [SourceFile(path: "Sources/A.swift", text: text)]).sizes == sizes)
    }

    @Test(arguments: [
        (400, "", true), (401, "", false), (401, "A | 401 | a reason", true),
        (402, "A | 401 | a reason", false),
        (401, "A | 402 | a reason", false), (400, "A | 400 | a reason", false),
        (401, "A | 401 |", false), (401, "A | many | a reason", false), (400, "B | 401 | gone", false),
    ])
    func theListIsExact(_ lines: Int, _ list: String, _ isClean: Bool) {
        let text = "struct A {\n" + String(repeating: "var a = 1\n", count: lines) + "}"
        let rule = TypeSizeRule(files: [SourceFile(path: "Sources/A.swift", text: text)])
        #expect(rule.violations(list: list).isEmpty == isClean)
    }
}
