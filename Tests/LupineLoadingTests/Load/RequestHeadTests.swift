// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// Tests of the octets that a hop sends before its body: U-9.1 to U-9.4, U-1.7, U-7.6.
@Suite struct RequestHeadTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var method = "GET"
        var target = "/"
        var fields: [(String, String)] = []
        var body: String?
        /// The request line and the lines after `Host`, without those of every request.
        let lines: [String]
    }

    static let rows = [
        Row(testDescription: "[U-9.1] nothing set", lines: ["GET / HTTP/1.1"]),
        Row(testDescription: "[U-9.2] an empty path", target: "", lines: ["GET / HTTP/1.1"]),
        Row(
            testDescription: "[U-9.2, H-8.17] an empty path of OPTIONS", method: "OPTIONS", target: "",
            lines: ["OPTIONS * HTTP/1.1"]),
        Row(
            testDescription: "[U-9.2] an empty path of OPTIONS, and a fragment", method: "OPTIONS",
            target: "#f",
            lines: ["OPTIONS * HTTP/1.1"]),
        Row(
            testDescription: "[U-9.2] an empty path of OPTIONS, and a query", method: "OPTIONS", target: "?a",
            lines: ["OPTIONS /?a HTTP/1.1"]),
        Row(
            testDescription: "[U-9.2] path and query as they are encoded",
            target: "/a%2Fb%20c/~?q=%41+b&&x=1;2#part",
            lines: ["GET /a%2Fb%20c/~?q=%41+b&&x=1;2 HTTP/1.1"]),
        Row(
            testDescription: "[U-1.7] fields that the load sets are dropped",
            fields: [
                ("Content-Length", "7"), ("Transfer-Encoding", "chunked"), ("Connection", "close"),
                ("Proxy-Authorization", "Basic x"), ("Proxy-Connection", "close"), ("X-Mine", "1"),
            ], lines: ["GET / HTTP/1.1", "X-Mine: 1"]),
        Row(
            testDescription: "the caller's fields in their order", fields: [("B", "2"), ("A", "1")],
            lines: ["GET / HTTP/1.1", "B: 2", "A: 1"]),
        Row(
            testDescription: "an upgrade that the client does not handle is not requested",
            fields: [("Upgrade", "h2c")],
            lines: ["GET / HTTP/1.1"]),
        Row(
            testDescription: "[U-9.4] no body, nothing to expect", fields: [("Expect", "100-continue")],
            lines: ["GET / HTTP/1.1"]),
        Row(
            testDescription: "[U-9.3] POST without a body", method: "POST",
            lines: ["POST / HTTP/1.1", "Content-Length: 0"]),
        Row(
            testDescription: "[U-9.3] PUT without a body", method: "PUT",
            lines: ["PUT / HTTP/1.1", "Content-Length: 0"]),
        Row(
            testDescription: "[U-9.3] PATCH without a body", method: "PATCH",
            lines: ["PATCH / HTTP/1.1", "Content-Length: 0"]),
        Row(testDescription: "[U-9.3] DELETE without a body", method: "DELETE", lines: ["DELETE / HTTP/1.1"]),
        Row(
            testDescription: "[U-9.3] OPTIONS without a body", method: "OPTIONS",
            lines: ["OPTIONS / HTTP/1.1"]),
        Row(testDescription: "[U-9.3] TRACE without a body", method: "TRACE", lines: ["TRACE / HTTP/1.1"]),
        Row(testDescription: "[U-9.3] HEAD", method: "HEAD", lines: ["HEAD / HTTP/1.1"]),
        Row(
            testDescription: "[U-7.1] empty data is no body", method: "DELETE", body: "",
            lines: ["DELETE / HTTP/1.1"]),
        Row(
            testDescription: "[U-7.4, U-7.6] a form by default", method: "POST", body: "a=b",
            lines: [
                "POST / HTTP/1.1", "Content-Length: 3", "Content-Type: application/x-www-form-urlencoded",
            ]),
        Row(
            testDescription: "[U-7.6] the caller's type", method: "POST",
            fields: [("Content-Type", "text/plain")],
            body: "abc", lines: ["POST / HTTP/1.1", "Content-Length: 3", "Content-Type: text/plain"]),
        Row(
            testDescription: "[U-7.6] other methods have no default type", method: "PUT", body: "abc",
            lines: ["PUT / HTTP/1.1", "Content-Length: 3"]),
    ]

    @Test(arguments: rows, TestedHTTP.allCases) func onTheWire(_ row: Row, over testedHTTP: TestedHTTP)
        async throws
    {
        try await withLoads(ScriptPlan(.expectHead, .reply(""), .stall), over: testedHTTP) { stage in
            let log = try await stage.send(
                row.target, method: row.method, row.fields, body: row.body.map { Data($0.utf8) })
            #expect(log.error == nil)
            let always =
                [
                    "Host: origin.test:\(stage.origin.port)", "Accept: */*",
                    "Accept-Encoding: \(DefaultFields.acceptEncoding)",
                    "User-Agent: \(DefaultFields.userAgent)",
                ] + (testedHTTP == .http1 ? ["Connection: keep-alive"] : [])
                + [DefaultFields.acceptLanguage].compactMap { $0.map { "Accept-Language: \($0)" } }
            let head = stage.wire().components(separatedBy: "\r\n\r\n")[0]
            #expect(
                head.components(separatedBy: "\r\n").filter { !always.contains($0) }.sorted()
                    == row.lines.sorted())
            #expect(head.hasPrefix(row.lines[0]))
            for line in always { #expect(head.components(separatedBy: line).count == 2, "\(line)") }
        }
    }

    @Test(
        "[U-1.7, U-9.1] the caller's fields are kept, Host too",
        arguments: ["Host", "Accept", "Accept-Language", "Accept-Encoding", "User-Agent", "Authorization"],
        TestedHTTP.allCases)
    func theCallersOwn(_ name: String, over testedHTTP: TestedHTTP) async throws {
        try await withLoads(ScriptPlan(.expectHead, .reply(""), .stall), over: testedHTTP) { stage in
            try await stage.send(fieldsOf: name)
            let lines = stage.wire().components(separatedBy: "\r\n").filter { $0.hasPrefix(name + ":") }
            #expect(lines == ["\(name): mine"])
        }
    }

    @Test("[U-9.1] no field of an earlier request is repeated")
    func oneAfterTheOther() async throws {
        try await withLoads { stage in
            var hops: [HopRequest] = []
            for (method, fields, body) in [
                ("GET", [], nil), ("GET", [("Authorization", "one")], nil),
                ("GET", [("Authorization", "two")], nil), ("GET", [("authorization", "two")], nil),
                ("GET", [("A", "1"), ("B", "2")], nil),
                ("GET", [("B", "2"), ("A", "1")], nil), ("GET", [("Host", "mine")], nil),
                ("GET", [("Expect", "100-continue")], nil), ("GET", [("Upgrade", "websocket")], nil),
                ("HEAD", [], nil), ("POST", [], nil), ("POST", [], "a"), ("PUT", [], "a"),
                ("PUT", [("Expect", "100-continue")], "a"),
            ] as [(String, [(String, String)], String?)] {
                var request = try stage.request(method: method, fields, body: body.map { Data($0.utf8) })
                hops.append(HopRequest(request: request))
                hops.append(HopRequest(request: request, mayDecode: false))
                request.url = URL(string: "ws://origin.test:\(stage.origin.port)/")
                if body == nil { hops.append(HopRequest(request: request, isUpgrade: true)) }
            }
            let elsewhere = HopRequest(
                request: URLRequest(url: try #require(URL(string: "http://elsewhere.test/"))))
            func fields(of hop: HopRequest) throws -> Fields {
                try SendingPlan(hop, stage.settings, stage.engine).head.fields
            }
            let alone = try hops.map { hop in
                _ = try fields(of: elsewhere)
                return try fields(of: hop)
            }
            #expect(Set(alone.map(\.count)).count > 3)
            for (first, other) in hops.indices.flatMap({ one in hops.indices.map { (one, $0) } }) {
                let before = try fields(of: hops[first])
                #expect(before == alone[first] && before.count == alone[first].count)
                #expect(try fields(of: hops[other]) == alone[other], "\(other) behind \(first)")
            }
        }
    }

    @Test(
        "[U-9.1] the session's fields are encoded once for each server, and are the same for all its requests",
        arguments: TestedHTTP.allCases
    )
    func sessionsOwn(over testedHTTP: TestedHTTP) async throws {
        let configuration = URLSessionConfiguration.with {
            $0.httpAdditionalHeaders = ["X-Own": "1", "Accept": "text/plain"]
        }
        try await withLoads(configuration: configuration, over: testedHTTP) { stage in
            func fields(_ url: String, _ method: String = "GET") throws -> Fields {
                var request = URLRequest(url: try #require(URL(string: url)))
                request.httpMethod = method
                request = stage.settings.addingHeaders(to: request)
                return try SendingPlan(HopRequest(request: request), stage.settings, stage.engine).head.fields
            }
            for _ in 0..<2 {
                for host in ["a.test", "b.test:81", "user:secret@a.test"] {
                    let found = try fields("http://\(host)/x")
                    #expect(found[.host] == host.replacingOccurrences(of: "user:secret@", with: ""))
                    #expect(try found[FieldName("X-Own")] == "1" && found[.accept] == "text/plain")
                    #expect(try fields("http://\(host)/x", "HEAD") == found)
                }
            }
        }
    }

    @Test func defaults() {
        #expect(DefaultFields.acceptEncoding == "gzip, deflate, br")
        #expect(
            DefaultFields.makeAcceptLanguage(listing: ["de-DE", "en-GB", "fr"])
                == "de-DE, en-GB;q=0.9, fr;q=0.8")
        #expect(DefaultFields.makeAcceptLanguage(listing: []) == nil)
        #expect(
            DefaultFields.makeUserAgent(process: "my tool", version: "2.1").hasPrefix("my_tool/2.1 Lupine/"))
        #expect(DefaultFields.makeUserAgent(process: "", version: nil).hasPrefix("program/1.0 Lupine/"))
    }

    struct Refused: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let code: URLError.Code
        let change: @Sendable (inout URLRequest) -> Void
    }

    /// Checks that nothing is sent of an invalid request, and that its load ends once, asynchronously (U-16.3).
    @Test(
        arguments: [
            Refused(testDescription: "no address", code: .unsupportedURL, change: { $0.url = nil }),
            Refused(testDescription: "[U-1.2] no method", code: .badURL, change: { $0.httpMethod = "A B" }),
            Refused(
                testDescription: "[U-1.4] a broken value", code: .badURL,
                change: { $0.allHTTPHeaderFields = ["A": "b\r\nC: d"] }),
            Refused(
                testDescription: "[U-1.4] a broken name", code: .badURL,
                change: { $0.allHTTPHeaderFields = ["A B": "c"] }),
            Refused(
                testDescription: "[U-7.1] GET with a body", code: .dataLengthExceedsMaximum,
                change: { $0.httpBody = Data([1]) }),
        ], TestedHTTP.allCases)
    func refused(_ row: Refused, over testedHTTP: TestedHTTP) async throws {
        try await withLoads(over: testedHTTP) { stage in
            var request = try stage.request()
            row.change(&request)
            let log = await stage.send(HopRequest(request: request))
            #expect(log.error?.code == row.code && log.order == ["end"] && log.ends == 1)
            #expect(stage.origin.counts.connectionsAccepted == 0)
        }
    }

    /// The body is announced by the caller, or by the session if it is large enough.
    @Test(
        "[U-9.4] with Expect: 100-continue the body waits for 100, and is not sent after a final response",
        arguments: [true, false], [true, false])
    func expectContinue(_ byCaller: Bool, _ isWanted: Bool) async throws {
        let plan =
            isWanted
            ? ScriptPlan(
                .expectHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .expectBytes(3), .reply(), .stall)
            : ScriptPlan(.expectHead, .reply("no", status: "417 Expectation Failed"), .expectEnd)
        try await withLoads(
            plan,
            configuration: .with {
                if !byCaller { $0.lupine.expectContinueThreshold = 3 }
                $0.lupine.continueTimeout = .seconds(60)
            }
        ) { stage in
            let log = try await stage.send(
                method: "PUT", byCaller ? [("Expect", "100-continue")] : [], body: Data("abc".utf8))
            #expect(log.error == nil && log.response?.statusCode == (isWanted ? 200 : 417))
            #expect(log.interim == (isWanted ? [100] : []))
            #expect(stage.wire().contains("\r\nExpect: 100-continue\r\n"))
            #expect(stage.wire().hasSuffix("\r\n\r\n" + (isWanted ? "abc" : "")))
        }
    }

    @Test(arguments: TestedHTTP.allCases) func aShortBodyIsNotAnnounced(over testedHTTP: TestedHTTP)
        async throws
    {
        try await withLoads(
            ScriptPlan(.expectHead, .reply(), .stall),
            configuration: .with { $0.lupine.expectContinueThreshold = 4 }, over: testedHTTP
        ) { stage in
            try await stage.send(method: "PUT", body: Data("abc".utf8))
            #expect(!stage.wire().contains("Expect"))
        }
    }
}

extension LoadStage {
    fileprivate func send(fieldsOf name: String) async throws {
        try await send("/", [(name, "mine")])
    }
}
