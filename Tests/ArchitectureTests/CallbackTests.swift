// SPDX-License-Identifier: MIT

import Testing

/// Tests that every callback of the public interface has an assertion and a test.
struct CallbackTests {
    private static let modules = [
        "Sources/Lupine", "Sources/LupineLoading", "Sources/LupineTransport", "Sources/LupineTLS",
        "Sources/LupineTesting",
    ]

    @Test("[O-6] every callback has a place that asserts, and a test")
    func everyCallbackIsAssertedAndTested() throws {
        let repository = Repository.here
        let files = try Self.modules.flatMap { try repository.swiftFiles(under: $0) }
        let aliases = files.reduce(into: Set<String>()) { $0.formUnion(CallbackRule.aliases(in: $1)) }
        let callbacks = files.reduce(into: Set<String>()) {
            $0.formUnion(CallbackRule.callbacks(in: $1, aliases: aliases))
        }
        let asserting = files.filter { file in
            !["HeldLocks", "AssertNoLockIsHeld"].contains(file.stem)
                && file.tokens.contains { $0.text == "assertNoLockIsHeld" }
        }.map { String($0.path.dropFirst("Sources/".count)) }
        let tests = repository.paths(under: "Tests", endingIn: [".swift"])
        let rows = try tests.filter { $0.contains("/LupineTests/Hostile/Callback") }
            .reduce(into: Set<String>()) { $0.formUnion(CallbackRule.rows(in: try repository.text($1))) }
        let suites = Set(
            tests.filter { $0.hasSuffix("Tests.swift") }
                .compactMap { $0.split(separator: "/").last.map { String($0.dropLast(6)) } })
        let found = CallbackRule.differences(
            callbacks, rows: rows, asserting: Set(asserting), suites: suites,
            list: try repository.text(CallbackRule.listPath))
        #expect(callbacks.count > 150)
        #expect(rows.count > 40)
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test(arguments: [
        ("public protocol A { func b(_ c: Int, d e: Int); init(f: Int) }", ["A.b(_:d:)", "A.init(f:)"]),
        ("protocol A { func b() }", []),
        ("extension A { public func b(_ c: @escaping () -> Void, d: Int) {} }", ["A.b(c:)"]),
        ("extension A { func b(_ c: @escaping () -> Void) {} }", []),
        ("public struct A { public init(b: Int = 1, c: @escaping Handler) {} }", ["A.init(c:)"]),
        ("public struct A { public func b() -> Int { c { _ in } } public func d(e: Int) -> Int { 1 } }", []),
        ("public enum A { case b(() -> Void), c\n case d(Int) }", ["A.b"]),
        ("enum A { case b(() -> Void) }", []),
        ("public struct A { public enum B { case c(Int, by: Handler) } }", ["A.B.c"]),
        ("public class A { public var b: (() -> Void)? { nil }\n public var c: Int { 1 } }", ["A.b"]),
        (
            "open class A { open func b(c: Int) {} public func d() {} open class func e() {} }",
            ["open A.b(c:)", "open A.e()"]
        ),
        ("extension A.B { public func c(d: [Handler]) {} }", ["A.B.c(d:)"]),
        ("extension A { func b() { func c(d: () -> Void) {} } }", []),
    ])
    func callbacksAreFound(_ text: String, _ names: [String]) {
        let found = CallbackRule.callbacks(in: SourceFile(path: "A.swift", text: text), aliases: ["Handler"])
        #expect(found == Set(names))
    }

    @Test func aliasesAreFound() {
        let text = """
            public typealias A = @Sendable (Int) -> Void
            public typealias B = Int
            func c() -> Int { 1 }
            typealias D =
                @Sendable (
                    Int
                ) -> Void
            """
        #expect(CallbackRule.aliases(in: SourceFile(path: "A.swift", text: text)) == ["A", "D"])
    }

    @Test func missingEntriesAreReported() {
        func found(_ callbacks: Set<String>, _ list: String, rows: Set<String> = ["row"]) -> [String] {
            CallbackRule.differences(
                callbacks, rows: rows, asserting: ["A.swift"], suites: ["SomeTests"], list: list)
        }
        #expect(found(["A.a()"], "# comment\nA.a() | A.swift | row").isEmpty)
        #expect(found(["A.a()", "A.b()"], "A.* | A.swift | row, SomeTests").isEmpty)
        #expect(found(["A.a()", "B.b()"], "A.a() | A.swift | row\nB.b() | - | the library's").isEmpty)
        #expect(found([], "observers of A | A.swift | row").isEmpty)
        #expect(found(["A.a()", "B.b()"], "A.a() | A.swift | row").count == 1, "B.b() is not listed")
        #expect(found(["A.a()"], "A.a() | A.swift | row\nB.b() | - | gone").count == 1, "B.b() is none")
        #expect(found(["A.a()"], "A.a() | A.swift, B.swift | row").count == 1, "B.swift asserts nothing")
        #expect(found(["A.a()"], "A.a() | A.swift | row, other").count == 1, "other is no test")
        #expect(found(["A.a()"], "A.a() | - | none").count == 2, "A.swift and the row stand for nothing")
        #expect(found(["A.a()"], "A.a() | A.swift").count == 4, "a line without its third field")
        #expect(CallbackRule.rows(in: "Callback(\"a b\") Callback(\n \"c \\(step)\"") == ["a b", "c"])
    }
}
