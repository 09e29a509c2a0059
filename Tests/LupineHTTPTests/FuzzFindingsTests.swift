// SPDX-License-Identifier: MIT

import LupineHTTP
import Testing

/// Regression tests of inputs that fuzzing has found, each named by its fault. The fuzz targets check the general invariants.
@Suite struct FuzzFindingsTests {
    struct Row: CustomTestStringConvertible {
        let shows: String
        var method = Method.get
        var limits = ParserLimits()
        let wire: String
        /// The events and errors expected for it, whole and octet by octet.
        let expected: [String]

        var testDescription: String { shows }
    }

    static let rows: [Row] = [
        Row(
            shows: "an empty status line is no other error when its CR comes alone", wire: "\r\n",
            expected: ["\(HTTPError.notHTTP(octet: 0x0D, offset: 0))"]),
        Row(
            shows: "a status line that ends in its version is no other error when its CR comes alone",
            wire: "HT\r\n", expected: ["\(HTTPError.malformedStartLine(octet: 0x0D, offset: 2))"]),
        Row(
            shows: "a status line of the longest length passes when its CR comes alone",
            limits: limits(lineBytes: 15), wire: "HTTP/1.1 200 OK\r\nETag: 1\r\n\r\n",
            expected: ["200", "open"]),
        Row(
            shows: "a line that is too long and no HTTP is no HTTP however it comes",
            limits: limits(lineBytes: 8), wire: "ABCDEFGHI\n",
            expected: ["\(HTTPError.notHTTP(octet: 0x41, offset: 0))"]),
        Row(
            shows: "an accepted CONNECT is a tunnel whatever its Content-Length says", method: .connect,
            wire: "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", expected: ["200", "tunnel"]),
    ]

    private static func limits(lineBytes: Int) -> ParserLimits {
        var limits = ParserLimits()
        limits.lineBytes = lineBytes
        return limits
    }

    @Test(arguments: rows) func staysMended(_ row: Row) throws {
        let wire = Array(row.wire.utf8)
        #expect(try said(of: [wire], row) == row.expected)
        #expect(try said(of: wire.map { [$0] }, row) == row.expected)
        for cut in 0...wire.count {
            #expect(
                try said(of: [Array(wire[..<cut]), Array(wire[cut...])], row) == row.expected, "cut at \(cut)"
            )
        }
    }

    @Test(arguments: [
        (Method.connect, RequestTarget.origin("/")), (.connect, .absolute("http://a/")), (.get, .asterisk),
        (.get, .absolute("/a:b")), (.get, .absolute(":a")),
    ])
    func aTargetThatTheServerWouldReadOtherwiseIsNotSent(_ method: Method, _ target: RequestTarget) throws {
        var codec = ClientCodec()
        var sent: [UInt8] = []
        let request = RequestHead(
            method: method, target: target, authority: try Authority(host: "a", port: 80))
        #expect(throws: HTTPError.invalidTarget(Excerpt(target.description))) {
            try codec.send(request, body: .none, into: &sent)
        }
        #expect(sent.isEmpty && codec.maySendRequest)
    }

    @Test(arguments: [
        "GET *", "GET a", "CONNECT /", "CONNECT a", "CONNECT a:x", "CONNECT a/b:1", "CONNECT ::1:1",
    ])
    func aTargetThatCannotBeReadIsThePeersFault(_ line: String) throws {
        var codec = ServerCodec()
        let wire = Array("\(line) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        let expected = HTTPError.malformedTarget(Excerpt(String(line.split(separator: " ")[1])))
        #expect(throws: expected) { try codec.next(wire.span).consumed }
        #expect(expected.fault == .remote)
    }

    @Test func anAuthorityIsForConnectAlone() throws {
        var codec = ClientCodec()
        var sent: [UInt8] = []
        let authority = try Authority(host: "a", port: 80)
        let request = RequestHead(method: .get, target: .authority(authority), authority: authority)
        #expect(throws: HTTPError.invalidTarget(Excerpt("a:80"))) {
            try codec.send(request, body: .none, into: &sent)
        }
    }

    @Test func noChunksAreSentInHTTP10() throws {
        var codec = ClientCodec()
        var sent: [UInt8] = []
        let request = RequestHead(method: .post, target: .origin("/"), version: .http10)
        #expect(throws: HTTPError.unknownLengthInHTTP10) {
            try codec.send(request, body: .unknown, into: &sent)
        }
        #expect(sent.isEmpty && codec.maySendRequest)
    }

    @Test func noBodyIsShorterThanNothing() throws {
        var codec = ClientCodec()
        var sent: [UInt8] = []
        let request = RequestHead(
            method: .post, target: .origin("/"), authority: try Authority(host: "a", port: 80))
        #expect(throws: HTTPError.bodyLengthMismatch(announced: -1, given: 0)) {
            try codec.send(request, body: .known(-1), into: &sent)
        }
        #expect(sent.isEmpty && codec.maySendRequest)
    }

    @Test func aQuotedSemicolonDoesNotEndThePrincipal() {
        let value = Array("\"a;b\" ; q=1".utf8)
        #expect(ListSyntax.principal(of: 0..<value.count, in: value.span) == 0..<5)
    }

    private func said(of pieces: [[UInt8]], _ row: Row) throws -> [String] {
        var codec = ClientCodec(limits: row.limits)
        let authority = try Authority(host: "a", port: 80)
        let target = row.method == .connect ? RequestTarget.authority(authority) : .origin("/")
        let request = RequestHead(method: row.method, target: target, authority: authority)
        var sent: [UInt8] = []
        try codec.send(request, body: .none, into: &sent)
        var said: [String] = []
        for piece in pieces {
            var rest = piece[...]
            feeding: while true {
                do {
                    let (event, consumed) = try codec.next(rest.span)
                    rest = rest.dropFirst(consumed)
                    switch event {
                    case .needMore: break feeding
                    case .interim(let head): said.append("\(head.status)")
                    case .head(let head, _, _): said.append("\(head.status)")
                    case .content(let range): said.append("\(range.count) octets")
                    case .end: said.append("end")
                    case .handover: return said + ["tunnel"]
                    }
                } catch {
                    return said + ["\(error)"]
                }
            }
        }
        return said + ["open"]
    }
}
