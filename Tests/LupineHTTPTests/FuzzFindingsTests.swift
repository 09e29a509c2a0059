// SPDX-License-Identifier: MIT

import LupineHTTP
import Testing

/// Regression tests of inputs that fuzzing has found. The fuzz targets check the general invariants.
@Suite struct FuzzFindingsTests {
    struct Row: CustomTestStringConvertible {
        let title: String
        var method = Method.get
        var limits = ParserLimits()
        let wire: String
        /// The events and errors expected, however the octets are cut.
        let expected: [String]

        var testDescription: String { title }
    }

    static let rows: [Row] = [
        Row(
            title: "an empty status line causes the same error if its CR arrives alone", wire: "\r\n",
            expected: ["\(HTTPError.notHTTP(octet: 0x0D, offset: 0))"]),
        Row(
            title: "a status line that ends in its version causes the same error if its CR arrives alone",
            wire: "HT\r\n", expected: ["\(HTTPError.malformedStartLine(octet: 0x0D, offset: 2))"]),
        Row(
            title: "a status line of the maximum length is accepted if its CR arrives alone",
            limits: limits(lineBytes: 15), wire: "HTTP/1.1 200 OK\r\nETag: 1\r\n\r\n",
            expected: ["200", "open"]),
        Row(
            title: "a line that is too long and not HTTP is reported as not HTTP wherever it is cut",
            limits: limits(lineBytes: 8), wire: "ABCDEFGHI\n",
            expected: ["\(HTTPError.notHTTP(octet: 0x41, offset: 0))"]),
        Row(
            title: "an accepted CONNECT is a tunnel whatever its Content-Length says", method: .connect,
            wire: "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", expected: ["200", "tunnel"]),
    ]

    private static func limits(lineBytes: Int) -> ParserLimits {
        var limits = ParserLimits()
        limits.lineBytes = lineBytes
        return limits
    }

    @Test(arguments: rows) func faultsStayFixed(_ row: Row) throws {
        let wire = Array(row.wire.utf8)
        #expect(try log(of: [wire], row) == row.expected)
        #expect(try log(of: wire.map { [$0] }, row) == row.expected)
        for cut in 0...wire.count {
            #expect(
                try log(of: [Array(wire[..<cut]), Array(wire[cut...])], row) == row.expected, "cut at \(cut)"
            )
        }
    }

    @Test(arguments: [
        (Method.connect, RequestTarget.origin("/")), (.connect, .absolute("http://a/")), (.get, .asterisk),
        (.get, .absolute("/a:b")), (.get, .absolute(":a")),
    ])
    func aTargetThatTheServerWouldMisreadIsNotSent(_ method: Method, _ target: RequestTarget) throws {
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
    func aMalformedTargetIsTheRemoteFault(_ line: String) throws {
        var codec = ServerCodec()
        let wire = Array("\(line) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        let expected = HTTPError.malformedTarget(Excerpt(String(line.split(separator: " ")[1])))
        #expect(throws: expected) { try codec.next(wire.span).consumed }
        #expect(expected.fault == .remote)
    }

    @Test func onlyConnectHasAnAuthorityTarget() throws {
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

    @Test func aNegativeBodyLengthIsRefused() throws {
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
        #expect(ListSyntax.valueWithoutParameters(of: 0..<value.count, in: value.span) == 0..<5)
    }

    private func log(of pieces: [[UInt8]], _ row: Row) throws -> [String] {
        var codec = ClientCodec(limits: row.limits)
        let authority = try Authority(host: "a", port: 80)
        let target = row.method == .connect ? RequestTarget.authority(authority) : .origin("/")
        let request = RequestHead(method: row.method, target: target, authority: authority)
        var sent: [UInt8] = []
        try codec.send(request, body: .none, into: &sent)
        var log: [String] = []
        for piece in pieces {
            var unread = piece[...]
            reading: while true {
                do {
                    let (event, consumed) = try codec.next(unread.span)
                    unread = unread.dropFirst(consumed)
                    switch event {
                    case .needMore: break reading
                    case .interim(let head): log.append("\(head.status)")
                    case .head(let head, _, _): log.append("\(head.status)")
                    case .content(let range): log.append("\(range.count) octets")
                    case .end: log.append("end")
                    case .handover: return log + ["tunnel"]
                    }
                } catch {
                    return log + ["\(error)"]
                }
            }
        }
        return log + ["open"]
    }
}
