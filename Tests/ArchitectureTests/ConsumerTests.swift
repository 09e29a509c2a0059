// SPDX-License-Identifier: MIT

import Testing

/// Tests that every function that delivers a body has a row in the tables of limits.
struct ConsumerTests {
    @Test func everyConsumerHasARow() throws {
        let files = try Repository.here.swiftFiles(
            under: "Sources/Lupine", "Sources/LupineLoading", "Sources/LupineTransport/Client")
        let functions = files.reduce(into: Set<String>()) { $0.formUnion(ConsumerRule.functions(in: $1)) }
        let tables = Repository.here.paths(under: "Tests", endingIn: [".swift"])
            .filter { $0.contains("/Hostile/Limit") }
        let rows = try tables.reduce(into: Set<String>()) {
            $0.formUnion(ConsumerRule.rows(in: try Repository.here.text($1)))
        }
        let found = ConsumerRule.differences(
            functions, rows: rows, list: try Repository.here.text(ConsumerRule.listPath))
        #expect(rows.count > 40)
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test(arguments: [
        ("extension DataRequest { public func a() {} }", ["DataRequest.a"]),
        ("open class URLSession { open func a() {} func b() {} package func c() {} }", ["URLSession.a"]),
        (
            "extension DataRequest { struct B { public func a() {} } public static func c() {} }",
            ["DataRequest.c"]
        ),
        (
            "extension AsyncSequence where Element == UInt8 { public var lines: Int { 1 } }",
            ["AsyncSequence.lines"]
        ),
        ("extension URLSession.DataRequest { public mutating func a() { if true {} } }", ["DataRequest.a"]),
        ("extension DataRequest { public class func a() {} public var b: Int { 1 } }", ["DataRequest.a"]),
        ("struct Other { public func a() {} }", []),
    ])
    func functionsAreFound(_ text: String, _ names: [String]) {
        #expect(ConsumerRule.functions(in: SourceFile(path: "A.swift", text: text)) == Set(names))
    }

    @Test func missingEntriesAreReported() {
        func found(_ functions: Set<String>, _ rows: Set<String>, _ list: String) -> Int {
            ConsumerRule.differences(functions, rows: rows, list: list).count
        }
        #expect(found(["A.a", "A.b"], ["A.a"], "# a\nA.b | none") == 0)
        #expect(found(["A.a", "A.b"], ["A.a"], "") == 1)
        #expect(found(["A.a"], ["A.a", "A.b"], "") == 1)
        #expect(found(["A.a"], ["A.a"], "A.a | none") == 1)
        #expect(found(["A.a"], [], "A.a |") == 2)
        #expect(ConsumerRule.rows(in: "LimitBody(\"A.a\") both(\"A.b\")") == ["A.a", "A.b"])
    }
}
