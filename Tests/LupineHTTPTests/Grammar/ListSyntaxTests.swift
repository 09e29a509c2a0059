// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

@Suite struct ListSyntaxTests {
    static func elements(_ text: String) -> [String] {
        let bytes = Array(text.utf8)
        var found: [String] = []
        ListSyntax.forEachElement(in: bytes.span) { found.append(bytes.span.text($0)) }
        return found
    }

    @Test(arguments: [
        ("", []), (" ", []), (",", []), (" , ,\t,", []), ("a", ["a"]), (" a ", ["a"]), ("a,b", ["a", "b"]),
        ("a , b\t,c", ["a", "b", "c"]), (",a,,b,", ["a", "b"]), ("a b,c", ["a b", "c"]),
        ("\"a,b\",c", ["\"a,b\"", "c"]), ("x=\"a,\\\",b\",c", ["x=\"a,\\\",b\"", "c"]),
        ("\"a,b", ["\"a,b"]), ("a,\"", ["a", "\""]), ("\"a\\", ["\"a\\"]), ("\"a\\\"", ["\"a\\\""]),
        ("a\\,b", ["a\\", "b"]), ("\"\",b", ["\"\"", "b"]),
    ])
    func commasSeparateOutsideOfQuotes(_ text: String, _ expected: [String]) {
        #expect(Self.elements(text) == expected)
    }

    @Test func elementsBeyondTheLimitAreIgnored() {
        let list = Array(String(repeating: "a, ,", count: 5_000).utf8)
        var count = 0
        ListSyntax.forEachElement(in: list.span, upTo: 3) { _ in count += 1 }
        #expect(count == 3)
        ListSyntax.forEachElement(in: list.span) { _ in count += 1 }
        #expect(count == 5_003)
        let parameters = Array(("a" + String(repeating: ";b=c", count: 5_000) + ";d=e").utf8)
        count = 0
        ListSyntax.forEachParameter(of: 0..<parameters.count, in: parameters.span) { _, _ in count += 1 }
        #expect(count == ListSyntax.elementLimit)
        #expect(ListSyntax.parameter("d", of: 0..<parameters.count, in: parameters.span) == nil)
    }

    @Test(arguments: [
        ("close", true), ("Close", true), ("a, CLOSE", true), ("closed", false), ("\"close\"", false),
        ("a close", false), ("", false), ("close;x", false),
    ])
    func containsComparesWholeElements(_ text: String, _ expected: Bool) {
        let bytes = Array(text.utf8)
        #expect(ListSyntax.contains("close", in: bytes.span) == expected)
    }

    @Test(arguments: [
        ("text/html", "text/html", []), ("text/html; charset=utf-8", "text/html", ["charset=utf-8"]),
        ("a;b;c=", "a", ["b=", "c="]), ("a ; b = c ;; d", "a", ["b=c", "d="]),
        ("a;x=\"1;2,3\";y=z", "a", ["x=1;2,3", "y=z"]), ("a;x=\"q\\\"r\\\\s\"", "a", ["x=q\"r\\s"]),
        ("a;x=\"open", "a", ["x=open"]), ("a;x=\"open\\", "a", ["x=open\\"]), ("a;=b", "a", []),
        (";b=c", "", ["b=c"]), ("", "", []), ("a;x=\"\"", "a", ["x="]), ("a;x=\"y\"z", "a", ["x=y"]),
        ("a;x==", "a", ["x=="]),
    ])
    func parameters(_ text: String, _ principal: String, _ expected: [String]) {
        let bytes = Array(text.utf8)
        var found: [String] = []
        ListSyntax.forEachParameter(of: 0..<bytes.count, in: bytes.span) { found.append("\($0)=\($1)") }
        #expect(found == expected)
        #expect(
            bytes.span.text(ListSyntax.valueWithoutParameters(of: 0..<bytes.count, in: bytes.span))
                == principal)
    }

    @Test func theFirstParameterOfANameIsFoundInAnyCase() {
        let bytes = Array("a; B=1; b=2".utf8)
        #expect(ListSyntax.parameter("b", of: 0..<bytes.count, in: bytes.span) == "1")
        #expect(ListSyntax.parameter("B", of: 0..<bytes.count, in: bytes.span) == "1")
        #expect(ListSyntax.parameter("c", of: 0..<bytes.count, in: bytes.span) == nil)
    }

    @Test(arguments: [
        ("a", 1_000), ("a;q=1", 1_000), ("a;q=0", 0), ("a;q=0.5", 500), ("a; Q=0.25", 250),
        ("a;q=0.001", 1), ("a;q=1.000", 1_000), ("a;q=0.", 0), ("a;q=1.", 1_000), ("a;q=1.001", nil),
        ("a;q=2", nil), ("a;q=-1", nil), ("a;q=0.1234", nil), ("a;q=.5", nil), ("a;q=0,5", nil),
        ("a;q=", nil), ("a;q", nil), ("a;q=x", nil), ("a;q=0.x", nil), ("a;q=00", nil),
        ("a;x=y;q=0.3", 300), ("a;q=\"0.4\"", 400),
    ])
    func weights(_ text: String, _ expected: Int?) {
        let bytes = Array(text.utf8)
        #expect(ListSyntax.weight(of: 0..<bytes.count, in: bytes.span) == expected)
    }
}
