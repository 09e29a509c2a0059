// SPDX-License-Identifier: MIT

import LupineCoding
import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// The decoding of content codings, if the client is configured for it.
@Suite struct ContentDecodingTests {
    static let text = String(repeating: "All work and no play. ", count: 500)

    /// Returns bytes in a coding of zlib.
    static func coded(_ bytes: [UInt8], _ coding: DeflateEncoder.Coding) throws -> [UInt8] {
        let encoder = try DeflateEncoder(coding)
        var room = [UInt8](repeating: 0, count: bytes.count + 1_000)
        var output = room.mutableSpan
        let step = encoder.encode(bytes.span, into: &output)
        var rest = output._mutatingExtracting(droppingFirst: step.produced)
        let last = encoder.finish(into: &rest)
        return Array(room.prefix(step.produced + last.produced))
    }

    private func answer(_ coding: String, _ body: [UInt8], status: String = "200 OK") -> [Script.Step] {
        [
            .expectHead,
            .send(
                "HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\nContent-Encoding: \(coding)\r\n\r\n"),
            .send(body), .stall,
        ]
    }

    @Test(
        arguments: [("/gzip", "gzipped"), ("/deflate", "deflated"), ("/brotli", "brotli")],
        TestedHTTP.allCases)
    func codedContentIsDecoded(_ row: (path: String, mark: String), over testedHTTP: TestedHTTP) async throws
    {
        try await withStack(over: testedHTTP, settings: .with { $0.decodesContent = true }) {
            client, origin in
            let text = try await client.get(origin.url + row.path).body.text()
            // Field names are in lower case over HTTP/2 (RFC 9113 §8.2).
            let fieldName = testedHTTP == .http1 ? "Accept-Encoding" : "accept-encoding"
            #expect(text.contains("\"\(row.mark)\"") && text.contains(fieldName))
        }
    }

    @Test(arguments: TestedHTTP.allCases) func severalCodings(over testedHTTP: TestedHTTP) async throws {
        let body = try Self.coded(Self.coded(Array(Self.text.utf8), .deflate), .gzip)
        try await withStack(
            ScriptPlan([Script(answer("deflate, gzip", body))]), over: testedHTTP,
            settings: .with { $0.decodesContent = true }
        ) { client, origin in
            let text = try await client.get(origin.url + "/").body.text()
            #expect(text == Self.text)
        }
    }

    /// Decoding that produces nothing for a long time yields to the loop's other connections, and then continues.
    @Test(arguments: TestedHTTP.allCases) func inputWithoutOutputYieldsToOtherConnections(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        let empty = try Self.coded([], .gzip)
        let members = try Array(repeatElement(empty, count: 40_000).joined()) + Self.coded([7], .gzip)
        let body = try Self.coded(members, .gzip)
        try await withStack(
            ScriptPlan([Script(answer("gzip, gzip", body))]), over: testedHTTP,
            settings: .with { $0.decodesContent = true }
        ) { client, origin in
            let bytes = try await client.get(origin.url + "/").body.collect()
            #expect(bytes == [7])
        }
    }

    @Test(arguments: TestedHTTP.allCases) func withoutTheOptionNothingIsDecoded(over testedHTTP: TestedHTTP)
        async throws
    {
        let body = try Self.coded(Array(Self.text.utf8), .gzip)
        try await withStack(ScriptPlan([Script(answer("gzip", body))]), over: testedHTTP) { client, origin in
            let bytes = try await client.get(origin.url + "/").body.collect()
            #expect(bytes == body)
            #expect(
                !String(decoding: origin.receivedAsHTTP1(on: 0), as: UTF8.self).contains(
                    "Accept-Encoding"))
        }
    }

    @Test(arguments: TestedHTTP.allCases) func contentInAnUnknownCodingIsDelivered(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        try await withStack(
            ScriptPlan([Script(answer("zebra", Array("stripes".utf8)))]), over: testedHTTP,
            settings: .with { $0.decodesContent = true }
        ) { client, origin in
            let response = try await client.get(origin.url + "/")
            #expect(response.fields[.contentEncoding] == "zebra")
            let text = try await response.body.text()
            #expect(text == "stripes")
        }
    }

    /// Responses without content, or with part of it: nothing is decoded, and nothing is reported as cut short.
    @Test(arguments: ["HEAD", "204", "empty", "206"], TestedHTTP.allCases) func nothingToDecode(
        _ kind: String, over testedHTTP: TestedHTTP
    ) async throws {
        let part = Array("a part of something coded".utf8)
        let steps: [Script.Step] =
            switch kind {
            case "HEAD":
                [
                    .expectHead,
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\nContent-Encoding: gzip\r\n\r\n"), .stall,
                ]
            case "204":
                [.expectHead, .send("HTTP/1.1 204 No Content\r\nContent-Encoding: gzip\r\n\r\n"), .stall]
            case "empty": answer("gzip", [])
            case _: answer("gzip", part, status: "206 Partial Content")
            }
        try await withStack(
            ScriptPlan([Script(steps)]), over: testedHTTP, settings: .with { $0.decodesContent = true }
        ) {
            client, origin in
            let response = try await client.send(
                HTTPRequest(method: kind == "HEAD" ? .head : .get, url: origin.url + "/"))
            let bytes = try await response.body.collect()
            #expect(bytes == (kind == "206" ? part : []))
        }
    }

    @Test(arguments: TestedHTTP.allCases) func corruptOrTruncatedContent(over testedHTTP: TestedHTTP)
        async throws
    {
        let good = try Self.coded(Array(Self.text.utf8), .gzip)
        var corrupt = good
        corrupt[good.count - 6] ^= 0xFF
        for (body, isCut) in [(corrupt, false), (Array(good.dropLast(10)), true)] {
            try await withStack(
                ScriptPlan([Script(answer("gzip", body))]), over: testedHTTP,
                settings: .with { $0.decodesContent = true }
            ) { client, origin in
                let response = try await client.get(origin.url + "/")
                let error = await failure { () throws(TransportError) in try await response.body.collect() }
                switch error {
                case .coding("127.0.0.1", _, .cutShort)? where isCut: break
                case .coding("127.0.0.1", _, .corrupt)? where !isCut: break
                case let other: Issue.record("\(String(describing: other))")
                }
            }
        }
    }

    /// A few kilobytes that would decode to more than a gigabyte fail with an error, and use bounded memory until then.
    @Test(arguments: TestedHTTP.allCases) func aDecompressionBomb(over testedHTTP: TestedHTTP) async throws {
        let once = try Self.coded([UInt8](repeating: 0, count: 30 << 20), .gzip)
        let twice = try Self.coded(Array(repeatElement(once, count: 40).joined()), .gzip)
        try await withStack(
            ScriptPlan([Script(answer("gzip, gzip", twice))]), over: testedHTTP,
            settings: .with { $0.decodesContent = true }
        ) { client, origin in
            let response = try await client.get(origin.url + "/")
            let error = await failure { () throws(TransportError) in try await response.body.collect() }
            guard case .coding("127.0.0.1", _, .ratioLimit)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}
