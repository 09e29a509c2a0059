// SPDX-License-Identifier: MIT

import Testing

/// Tests that no lock holds a bare closure, and that the rule finds those in the given texts.
struct BareClosureTests {
    @Test func locksHoldNoBareClosures() throws {
        let files = try Repository.here.swiftFiles(under: "Sources")
        let violations = files.flatMap(BareClosureRule.violations)
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test(arguments: [
        ("let a: Lock<@Sendable () -> Void>", false),
        ("let a = Lock<(@Sendable (Int) -> Void)?>(nil)", false),
        ("let a: Mutex<(Int, () -> Void)>", false),
        ("let a: Protected<Handler?>", false),
        ("let a: Lock<Handler>", false),
        ("let a: Lock<Plain?>", true),
        ("let a: Lock<State>", true),
        ("let a: Lock<[Int: @Sendable () -> Void]>", true),
        ("let a: Lock<[Handler]>", true),
        ("let a: Lock<Result<() -> Void, Never>>", true),
        ("let a: Lock<Int>\nlet b: () -> Void", true),
    ])
    func bareClosuresAreFound(_ text: String, _ isClean: Bool) {
        let names = "typealias Plain = Result<Int, Never>\ntypealias Handler =\n    @Sendable (Int) -> Void\n"
        let file = SourceFile(path: "Sources/A.swift", text: names + text)
        let violations = BareClosureRule.violations(in: file)
        #expect(violations.isEmpty == isClean, "\(violations.report)")
    }
}
