// SPDX-License-Identifier: MIT
import Testing

/// Tests of forbidden words, in the repository and in samples that must be caught.
struct WordTests {
    @Test func sourcesHaveNoTrapsAndNoNotes() throws {
        let files = try Repository.here.swiftFiles(under: "Sources")
        let violations = files.flatMap {
            WordRule.trap.violations(in: $0) + WordRule.note.violations(in: $0)
        }
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test func testsDoNotSleep() throws {
        let violations = try Repository.here.swiftFiles(under: "Tests").flatMap(WordRule.sleep.violations)
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test func noFileNamesAPathOutsideOfTheRepository() throws {
        let texts = [
            ".swift", ".md", ".tsv", ".txt", ".c", ".h", ".sh", ".yml", ".json", ".conf", ".dict",
            ".modulemap",
        ]
        var paths = Repository.here.paths(under: ".", endingIn: texts)
        paths += Repository.here.paths(under: "Scripts", endingIn: [""])
        paths += Repository.here.paths(under: ".ci", endingIn: [""])
        let violations = try Set(paths).sorted().flatMap {
            WordRule.outsidePaths(in: try Repository.here.text($0), path: $0)
        }
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test(arguments: [
        (WordRule.trap, "try! a()", false), (.trap, "try a()", true), (.trap, "try? a()", true),
        (.trap, "a as! B", false),
        (.trap, "a as? B", true), (.trap, "fatalError(\"a\")", false), (.trap, "// try! a()", true),
        (.trap, "preconditionFailure()", true), (.note, "// TO" + "DO: later", false),
        (.note, "let a = 1", true),
        (.note, "/* FIX" + "ME */", false), (.sleep, "sleep(1)", false),
        (.sleep, "Thread.sleep(forTimeInterval: 1)", false),
        (.sleep, "try await Task.sleep(for: .seconds(1))", false), (.sleep, "usleep(5)", false),
        (.sleep, "let sleepers = 1", true), (.sleep, "// sleep(1)", true), (.sleep, "\"sleep(1)\"", true),
    ])
    func forbiddenWordsAreFound(_ rule: WordRule, _ text: String, _ isClean: Bool) {
        let violations = rule.violations(in: SourceFile(path: "Sources/A.swift", text: "\n\(text)"))
        #expect(violations.isEmpty == isClean, "\(violations.report)")
        #expect(violations.allSatisfy { $0.line == 2 })
    }

    @Test(arguments: [
        ("see /wor" + "k/main", false), ("`/wor" + "k/a`", false), ("/wor" + "k/a", false),
        ("../sha" + "red/a.md", false),
        ("Fuzz/wor" + "k/a", true), ("$root/wor" + "k/a", true), ("a shared, b", true), ("/network/a", true),
    ])
    func outsidePathsAreFound(_ text: String, _ isClean: Bool) {
        #expect(WordRule.outsidePaths(in: text, path: "A.md").isEmpty == isClean)
    }
}
