// SPDX-License-Identifier: MIT
import Testing

/// Tests of the first lines, names and lengths of files, in the repository and in samples that must be caught.
struct ShapeTests {
    @Test func filesFollowTheRules() throws {
        let files = try Repository.here.swiftFiles(under: "Sources", "Tests", "Fuzz", "Benchmarks")
            .filter { $0.stem != "Package" }
        let found = ShapeRule.allCases.flatMap { rule in
            files.filter(rule.applies(to:)).flatMap(rule.violations)
                .map { (rule: rule.rawValue, violation: $0) }
        }
        let text = try Repository.here.text(ShapeRule.exemptionsPath)
        let violations = Exemptions(path: ShapeRule.exemptionsPath, text: text).applied(to: found)
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test func cSourcesCarryTheLicence() throws {
        let paths =
            Repository.here.paths(under: "Sources", endingIn: [".c", ".h"])
            + Repository.here.paths(under: "Benchmarks", endingIn: [".c", ".h"])
        for path in paths {
            let first = try Repository.here.text(path).prefix { !$0.isNewline }
            #expect(
                first.contains("SPDX-License-Identifier: MIT"), "\(path):1: the first line names the licence")
        }
    }

    @Test(arguments: [
        (ShapeRule.licence, "Sources/A.swift", "// SPDX-License-Identifier: MIT\n", true),
        (.licence, "Sources/A.swift", "struct A {}\n", false),
        (.licence, "Sources/A.swift", "\n// SPDX-License-Identifier: MIT\n", false),
        (.licence, "Sources/A.swift", "", false),
        (.name, "Sources/A.swift", "struct A {}", true),
        (.name, "Sources/A.swift", "struct B { enum C {} }", false),
        (.name, "Sources/A.swift", "package final class A {}", true),
        (.name, "Sources/A+B.swift", "extension A: B {}", true),
        (.name, "Sources/A+B.swift", "extension C {}", false),
        (.name, "Sources/MessageHead.swift", "struct RequestHead {}", true),
        (.name, "Sources/MessageHead.swift", "struct HeadParser {}", false),
        (.name, "Sources/ProxyURL.swift", "enum ProxyURLError {}", true),
        (.name, "Sources/B+Text.swift", "extension A.B {}", true),
        (.name, "Sources/A.swift", "// struct A\nstruct B {}", false),
        (.name, "Sources/A.swift", "// nothing declared", true),
        (.vagueName, "Sources/StringUtils.swift", "", false),
        (.vagueName, "Sources/Common/A.swift", "", false),
        (.vagueName, "Sources/PoolManager.swift", "", false),
        (.vagueName, "Sources/ServerTrustManager.swift", "", true),
        (.vagueName, "Sources/Commonality.swift", "", true),
    ])
    func eachRuleIsEnforced(_ rule: ShapeRule, _ path: String, _ text: String, _ isClean: Bool) {
        let violations = rule.violations(in: SourceFile(path: path, text: text))
        #expect(violations.isEmpty == isClean, "\(violations.report)")
    }

    @Test(arguments: [
        ("Sources", 500, true), ("Sources", 501, false), ("Tests", 600, true), ("Tests", 601, false),
    ])
    func theMaximumLengthIsEnforced(_ folder: String, _ lines: Int, _ isClean: Bool) {
        let file = SourceFile(path: "\(folder)/A.swift", text: String(repeating: "a\n", count: lines))
        #expect(ShapeRule.length.violations(in: file).isEmpty == isClean)
    }

    @Test(arguments: [
        ("func a() {", "}", "a"), ("init(_ b: () -> Void = {}) where A == [B] {", "}", "init"),
        ("deinit {", "}", "deinit"), ("protocol P { func b()\n func c() -> () } func a() {", "}", "a"),
        ("let x = B.init() { $0 }; struct S { func a() -> [C] { if b {} ", "} }", "a"),
    ])
    func theMaximumLengthOfFunctionsIsEnforced(_ start: String, _ end: String, _ name: String) {
        for (lines, isClean) in [(60, true), (61, false)] {
            // The lines of the declaration that precede the function do not count.
            let body = String(repeating: "\n", count: lines - 1)
            let file = SourceFile(path: "Sources/A.swift", text: start + body + end)
            #expect(file.functions.map(\.name) == [name])
            #expect(ShapeRule.function.violations(in: file).isEmpty == isClean, "\(lines)")
        }
    }

    @Test(arguments: [
        ("HTTPClientUtils", ["HTTP", "Client", "Utils"]), ("common", ["Common"]), ("A1B", ["A", "B"]),
        ("Type+Aspect", ["Type", "Aspect"]),
    ])
    func wordsOfAName(_ name: String, _ words: [String]) {
        #expect(ShapeRule.words(name) == words)
    }

    @Test func anExemptionCoversItsOwnRuleAndMustBeNeeded() {
        let breach = (rule: "length", violation: Violation(path: "A.swift", line: 601, rule: "long"))
        func violations(_ text: String) -> [Violation] {
            Exemptions(path: "list", text: text).applied(to: [breach])
        }
        #expect(violations("A.swift | length | one table").isEmpty)
        #expect(violations("A.swift | name | one table").count == 2)
        #expect(violations("A.swift | length | one table\nB.swift | length | gone").count == 1)
        #expect(violations("A.swift | length |").count == 2)
    }
}
