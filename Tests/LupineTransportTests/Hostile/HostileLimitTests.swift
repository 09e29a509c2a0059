// SPDX-License-Identifier: MIT

import LupineCoding
import LupineHTTP
import LupineOrigin
import Testing

@testable import LupineTransport

/// Every limit of the client holds for every function that reads a body.
@Suite struct HostileLimitTests {
    enum Case: CaseIterable {
        case fits, long, coded, head, ratio, bytes, redirects

        static let collected = 1_000

        func error(_ host: String, _ port: UInt16, collects: Bool) -> TransportError? {
            switch self {
            case .long where collects, .coded where collects: return .contentTooLong(limit: Self.collected)
            case .head: return .http(host: host, port: port, .limitExceeded(.headBytes, allowed: 4 << 10))
            case .redirects: return .tooManyRedirects(limit: 3)
            case .fits, .long, .coded, .ratio, .bytes: return nil
            }
        }

        func script() throws -> [Script.Step] {
            switch self {
            case .fits: [.expectHead, .reply(String(repeating: "a", count: Self.collected)), .stall]
            case .long: [.expectHead, .reply(String(repeating: "a", count: Self.collected + 1)), .stall]
            case .coded: try coded(Self.collected + 1)
            case .head:
                [
                    .expectHead,
                    .send(
                        "HTTP/1.1 200 OK\r\nServer: \(String(repeating: "a", count: 5 << 10))\r\nContent-Length: 0\r\n\r\n"
                    ),
                    .stall,
                ]
            case .ratio, .bytes: try coded(1 << 20)
            case .redirects: []
            }
        }

        private func coded(_ count: Int) throws -> [Script.Step] {
            let body = try ContentDecodingTests.coded([UInt8](repeating: 0x61, count: count), .gzip)
            return [
                .expectHead,
                .send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nContent-Encoding: gzip\r\n\r\n"),
                .send(body), .stall,
            ]
        }
    }

    @Test("every limit holds for every function that reads a body", arguments: LimitBody.all, Case.allCases)
    func holds(_ reader: LimitBody, _ limit: Case) async throws {
        let settings = HTTPClient.Configuration.with {
            $0.decodesContent = true
            $0.redirectLimit = 3
            $0.parserLimits.headBytes = 4 << 10
            $0.expansionLimit =
                switch limit {
                case .ratio: ExpansionLimit(ratio: 4, ratioFloor: 500)
                case .bytes: ExpansionLimit(bytes: 900)
                default: .standard
                }
        }
        let plan = limit == .redirects ? nil : ScriptPlan([Script(try limit.script())])
        try await withStack(plan, settings: settings) { client, origin in
            let path = limit == .redirects ? "/redirect/4" : "/"
            let error = await failure { () throws(TransportError) in
                try await reader.read(client.get(origin.url + path).body, Case.collected)
            }
            switch (limit, error) {
            case (.ratio, .coding(_, _, .ratioLimit(_, limit: 4, _, _))): break
            case (.bytes, .coding(_, _, .outputLimit(_, limit: 900))): break
            case (.ratio, _), (.bytes, _): Issue.record("\(String(describing: error))")
            default: #expect(error == limit.error("127.0.0.1", origin.port, collects: reader.collects))
            }
        }
    }

    /// Content that a few bytes decode to is delivered in small pieces, as it is read; it is never in memory as a whole.
    @Test func decodedContentIsBounded() async throws {
        let count = 8 << 20
        let body = try ContentDecodingTests.coded([UInt8](repeating: 0x61, count: count), .gzip)
        let script = Script([
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nContent-Encoding: gzip\r\n\r\n"),
            .send(body), .stall,
        ])
        try await withStack(ScriptPlan([script]), settings: .with { $0.decodesContent = true }) {
            client, origin in
            var (pieces, receivedCount, longest) = (
                try await client.get(origin.url + "/").body.makeAsyncIterator(), 0, 0
            )
            while let piece = try await pieces.next() {
                receivedCount += piece.count
                longest = max(longest, piece.count)
            }
            #expect(receivedCount == count)
            #expect(longest <= 64 << 10)
        }
    }
}
