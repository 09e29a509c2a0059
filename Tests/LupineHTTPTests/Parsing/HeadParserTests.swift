// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

/// Tests of one parser that reads several heads; the cases of a single head are in `Wire/`.
@Suite struct HeadParserTests {
    private let first = Array("HTTP/1.1 200 OK\r\nETag: 1\r\nFold: a\r\n b\r\n\r\n".utf8)
    private let second = Array("HTTP/1.1 404 Not Found\r\nServer: x\r\n\r\n".utf8)

    @Test(arguments: [false, true], [0, 9, 30])
    func theNextHeadReplacesOneThatWasNotTaken(isTaken: Bool, cut: Int) throws {
        var parser = HeadParser(.response, limits: ParserLimits(), leniency: .client)
        let beginning = Array(first[..<cut])
        if cut > 0 { #expect(try parser.scan(beginning.span) == nil) }
        let remainder = Array(first[cut...])
        #expect(try parser.scan(remainder.span) == remainder.count)
        if isTaken { #expect(parser.extractHead(from: remainder.span).fields.value(at: 1) == "a b") }
        #expect(try parser.scan(second.span) == second.count)
        let head = parser.extractHead(from: second.span)
        guard case .response(.http11, let status, nil) = head.startLine else {
            Issue.record("not a response: \(head.startLine)")
            return
        }
        #expect(status.code == 404)
        #expect(head.fields.count == 1 && head.fields[.server] == "x")
    }
}
