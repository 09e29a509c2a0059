// SPDX-License-Identifier: MIT

import Testing

@testable import Lupine

struct HTTPHeadersTests {
    private func lines(_ headers: HTTPHeaders) -> [String] { headers.map(\.description) }

    // MARK: one per name

    @Test("[E-2.2.1] an update replaces the name and the value in place, or appends a field")
    func updates() {
        var headers: HTTPHeaders = ["b": "1", "a": "2"]
        headers.update(name: "B", value: "3")
        #expect(lines(headers) == ["B: 3", "a: 2"])
        headers.update(HTTPHeader(name: "c", value: "4"))
        #expect(lines(headers) == ["B: 3", "a: 2", "c: 4"])
        headers.add(name: "A", value: "5")
        headers.add(HTTPHeader(name: "C", value: "6"))
        headers.add(name: "d", value: "")
        #expect(lines(headers) == ["B: 3", "A: 5", "C: 6", "d: "])
    }

    @Test(
        "[E-2.2.1] names are equal if they are equal in lower case",
        arguments: [
            ("Content-Type", "cONTENT-tYPE", true), ("a", "b", false), ("a", "aa", false), ("", "", true),
            ("É", "é", true), ("e\u{301}", "é", true), ("\u{212A}", "k", true), ("é", "e", false),
            ("[", "{", false), ("@", "`", false),
        ])
    func names(_ first: String, _ second: String, _ isSame: Bool) {
        let headers = HTTPHeaders([HTTPHeader(name: first, value: "1"), HTTPHeader(name: second, value: "2")])
        #expect(headers.count == (isSame ? 1 : 2))
        #expect([HTTPHeader(name: first, value: "")].index(of: second) == (isSame ? 0 : nil))
        #expect(headers.value(for: first) == (isSame ? "2" : "1"))
        #expect(headers.dictionary.count == headers.count)
    }

    @Test("[E-2.2.2] of several spellings of a name the last is kept, at the first one's position")
    func collapses() {
        let literal: HTTPHeaders = ["x": "1", "y": "2", "X": "3"]
        #expect(lines(literal) == ["X: 3", "y: 2"])
        let array: HTTPHeaders = [
            HTTPHeader(name: "x", value: "1"), HTTPHeader(name: "y", value: "2"),
            HTTPHeader(name: "X", value: "3"),
        ]
        #expect(array == literal)
        #expect(HTTPHeaders(Array(array) + Array(array)) == literal)
    }

    @Test("a dictionary becomes a field for each entry")
    func fromDictionary() {
        #expect(HTTPHeaders(["a": "1", "b": "2"]).sorted() == ["a": "1", "b": "2"])
        let collapsed = HTTPHeaders(["a": "1", "A": "2"])
        #expect(collapsed.count == 1)
        #expect(collapsed.first.map { ["a: 1", "A: 2"].contains($0.description) } == true)
        #expect(HTTPHeaders([String: String]()).isEmpty)
        #expect(HTTPHeaders().isEmpty)
    }

    @Test("[E-2.2.3] a field is removed in any spelling; removing a missing field has no effect")
    func removes() {
        var headers: HTTPHeaders = ["A": "1", "B": "2"]
        headers.remove(name: "c")
        #expect(headers.count == 2)
        headers.remove(name: "a")
        #expect(lines(headers) == ["B: 2"])
        headers["b"] = nil
        #expect(headers.isEmpty)
        headers["b"] = nil
        #expect(headers.isEmpty)
    }

    @Test("[E-2.2.3] a subscript reads, updates and removes in any spelling")
    func subscripts() {
        var headers: HTTPHeaders = ["A": "1"]
        #expect(headers["a"] == "1")
        #expect(headers["b"] == nil)
        #expect(headers.value(for: "a") == "1")
        #expect(headers.value(for: "b") == nil)
        headers["a"] = "2"
        headers["b"] = "3"
        #expect(lines(headers) == ["a: 2", "b: 3"])
    }

    // MARK: order and text

    @Test("[E-2.2.4] fields are sorted by name, ignoring case; `sorted()` does not change the original")
    func sorts() {
        var headers: HTTPHeaders = ["b": "1", "C": "2", "A": "3"]
        let sorted = headers.sorted()
        #expect(lines(sorted) == ["A: 3", "b: 1", "C: 2"])
        #expect(lines(headers) == ["b: 1", "C: 2", "A: 3"])
        headers.sort()
        #expect(headers == sorted)
    }

    @Test("[E-2.2.5] the dictionary has the last spellings")
    func dictionary() {
        #expect((["x": "1", "y": "2", "X": "3"] as HTTPHeaders).dictionary == ["X": "3", "y": "2"])
        #expect(HTTPHeaders().dictionary.isEmpty)
    }

    @Test("[E-2.2.6] the description has one line per field, in order")
    func description() {
        #expect((["b": "1", "a": "2"] as HTTPHeaders).description == "b: 1\na: 2")
        #expect((["b": "1"] as HTTPHeaders).description == "b: 1")
        #expect(HTTPHeaders().description == "")
    }

    @Test("[E-2.2.7] equality depends on order and spelling")
    func equality() {
        #expect((["a": "1", "b": "2"] as HTTPHeaders) != ["b": "2", "a": "1"])
        #expect((["a": "1"] as HTTPHeaders) != ["A": "1"])
        #expect((["a": "1"] as HTTPHeaders) == ["a": "1"])
        #expect(Set<HTTPHeaders>([["a": "1"], ["A": "1"], ["a": "1"]]).count == 2)
    }

    @Test("the fields are a collection")
    func collection() {
        let headers: HTTPHeaders = ["a": "1", "b": "2"]
        #expect(headers.startIndex == 0)
        #expect(headers.endIndex == 2)
        #expect(headers.index(after: 0) == 1)
        #expect(headers[1] == HTTPHeader(name: "b", value: "2"))
        #expect(headers.indices.map { headers[$0].name } == ["a", "b"])
        var names: [String] = []
        for header in headers { names.append(header.name) }
        #expect(names == ["a", "b"])
    }

    @Test("[E-2.3.3] the default fields in their order, Accept-Language only if there are languages")
    func defaults() {
        var expected: [HTTPHeader] = [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]
        expected.removeAll { $0.value.isEmpty }
        #expect(Array(HTTPHeaders.default) == expected)
        #expect(expected.count == (UserLanguages.preferred.isEmpty ? 2 : 3))
    }
}
