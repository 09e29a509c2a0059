// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Content codings that are decoded, left alone, or reported as broken.
@Suite struct DecodingTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let coding: String
        let sent: @Sendable () throws -> [UInt8]
        var body = DecodingTests.plain
        var code: URLError.Code?
        /// True if the expected length is the `Content-Length`; otherwise it is unknown.
        var tellsLength = false
        var method = "GET"
        var status = 200
        var mayDecode = true
        var configured = true
        var fields: [(String, String)] = []
    }

    static let plain = Array("the same text again and again and again, the same text".utf8)

    static let rows = [
        Row(testDescription: "gzip", coding: "gzip", sent: { try CodedBodies.gzip(plain) }),
        Row(testDescription: "x-gzip in capitals", coding: "X-GZIP", sent: { try CodedBodies.gzip(plain) }),
        Row(testDescription: "deflate", coding: "deflate", sent: { try CodedBodies.zlib(plain) }),
        Row(
            testDescription: "deflate without a wrapping", coding: "deflate",
            sent: { try CodedBodies.raw(plain) }),
        Row(testDescription: "br", coding: "br", sent: { CodedBodies.brotli(plain) }),
        Row(
            testDescription: "gzip, then br", coding: "gzip, br",
            sent: { CodedBodies.brotli(try CodedBodies.gzip(plain)) }),
        Row(
            testDescription: "br, then deflate, then gzip", coding: "br, deflate,identity, gzip",
            sent: { try CodedBodies.gzip(try CodedBodies.zlib(CodedBodies.brotli(plain))) }),
        Row(
            testDescription: "Accept-Encoding set by the caller", coding: "gzip",
            sent: { try CodedBodies.gzip(plain) },
            fields: [("Accept-Encoding", "gzip")]),
        Row(
            testDescription: "two members", coding: "gzip",
            sent: { try CodedBodies.gzip(plain) + CodedBodies.gzip(plain) }, body: plain + plain),
        Row(
            testDescription: "garbage after the end", coding: "gzip",
            sent: { try CodedBodies.gzip(plain) + Array("garbage".utf8) }),
        Row(
            testDescription: "identity is not decoded", coding: "identity", sent: { plain }, tellsLength: true
        ),
        Row(
            testDescription: "an unknown coding is not decoded", coding: "zstd", sent: { plain },
            tellsLength: true),
        Row(
            testDescription: "an unknown one among known ones", coding: "gzip, zstd", sent: { plain },
            tellsLength: true),
        Row(
            testDescription: "a part of a coded body", coding: "gzip", sent: { plain }, tellsLength: true,
            status: 206),
        Row(
            testDescription: "a hop that continues a download", coding: "gzip", sent: { plain },
            tellsLength: true, mayDecode: false),
        Row(
            testDescription: "turned off", coding: "gzip", sent: { plain }, tellsLength: true,
            configured: false),
        Row(testDescription: "an empty body", coding: "gzip", sent: { [] }, body: [], tellsLength: true),
        Row(
            testDescription: "corrupt from the start", coding: "gzip", sent: { plain }, body: [],
            code: .cannotDecodeRawData),
        Row(
            testDescription: "a wrong sum", coding: "gzip",
            sent: {
                var bytes = try CodedBodies.gzip(plain)
                bytes[bytes.count - 6] ^= 1
                return bytes
            }, code: .cannotDecodeRawData),
        Row(
            testDescription: "cut short", coding: "gzip",
            sent: { Array(try CodedBodies.gzip(plain).dropLast(8)) }, code: .cannotDecodeContentData),
        Row(
            testDescription: "br cut short", coding: "br",
            sent: { Array(CodedBodies.brotli(plain).dropLast(1)) }, code: .cannotDecodeContentData),
    ]

    @Test("[U-9.10, U-9.11] a coded body, at once and byte by byte", arguments: rows, [false, true])
    func table(_ row: Row, _ isSlow: Bool) async throws {
        let sent = try row.sent()
        let head =
            "HTTP/1.1 \(row.status) OK\r\nContent-Encoding: \(row.coding)\r\nContent-Length: \(sent.count)\r\n\r\n"
        // All at once, or byte by byte.
        let plan = ScriptPlan(
            .expectHead, isSlow ? .sendByteByByte(Array(head.utf8) + sent) : .send(Array(head.utf8) + sent),
            .stall)
        try await withLoads(plan, configuration: .with { $0.lupine.decodesContent = row.configured }) {
            stage in
            let log = await stage.send(
                HopRequest(
                    request: try stage.request(method: row.method, row.fields), mayDecode: row.mayDecode))
            #expect(log.error?.code == row.code)
            #expect(log.body == Data(row.body))
            #expect(log.response?.expectedContentLength == (row.tellsLength ? Int64(sent.count) : -1))
            #expect(log.response?.value(forHTTPHeaderField: "Content-Encoding") == row.coding)
            if !isSlow, row.code == nil, !row.body.isEmpty { #expect(log.pieces.count == 1) }
            if row.code == nil {
                #expect(log.metrics?.bodyBytesAfterDecoding == Int64(row.body.count))
                #expect(log.metrics?.exchanges.last?.responseContentBytes == Int64(sent.count))
            }
            let sendsAcceptEncoding = stage.wire().contains(
                "Accept-Encoding: \(DefaultFields.acceptEncoding)")
            #expect(sendsAcceptEncoding == (row.mayDecode && row.configured && row.fields.isEmpty))
        }
    }

    @Test(
        "[U-9.7, U-9.11] a response without a body is not decoded",
        arguments: [("HEAD", 200), ("GET", 204), ("GET", 304)])
    func withoutABodyNothingIsDecoded(_ method: String, _ status: Int) async throws {
        let length = status == 204 ? "" : "Content-Length: 20\r\n"
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 \(status) X\r\nContent-Encoding: gzip\r\n\(length)\r\n"), .stall)
        try await withLoads(plan) { stage in
            let log = try await stage.send(method: method)
            #expect(log.error == nil && log.pieces.isEmpty)
            #expect(log.response?.expectedContentLength == (status == 204 ? -1 : 20))
        }
    }

    /// Checks that a body that grows when decoded is decoded piece by piece, as the client takes it.
    @Test(arguments: TestedHTTP.allCases) func aGrowingBodyIsNotHeldAsAWhole(over testedHTTP: TestedHTTP)
        async throws
    {
        let size = 32 << 20
        let sent = try CodedBodies.gzip([UInt8](repeating: 0, count: size))
        try await withLoads(
            ScriptPlan(.expectHead, .reply(sent, "Content-Encoding: gzip\r\n"), .stall), over: testedHTTP
        ) {
            stage in
            let seen = Lock(0)
            let client = RecordingHopClient(demand: { _ in .pause })
            let load = stage.load(HopRequest(request: try stage.request()), client)
            load.start()
            while !client.isOver {
                let now = client.log.withLock { log -> Int in
                    let count = log.pieces.count
                    for piece in log.pieces { seen.withLock { $0 += piece.count } }
                    log.pieces = []
                    return count
                }
                // One piece for each `resumeReading`.
                #expect(now <= 1)
                if now == 1 { load.resumeReading() }
                await Task.yield()
            }
            let log = await client.end()
            #expect(log.error == nil)
            #expect(seen.withLock { $0 } + log.body.count == size)
        }
    }

    /// Checks that a load that is cancelled with more octets to decode ends as cancelled, not with an error of the coding.
    @Test(arguments: TestedHTTP.allCases) func cancelledBetweenTwoPieces(over testedHTTP: TestedHTTP)
        async throws
    {
        let sent = try CodedBodies.gzip([UInt8](repeating: 0, count: 8 << 20))
        try await withLoads(
            ScriptPlan(.expectHead, .reply(sent, "Content-Encoding: gzip\r\n"), .stall), over: testedHTTP
        ) {
            stage in
            let box = Lock<NetworkLoad?>(nil)
            let client = RecordingHopClient(demand: { _ in
                box.withLock { $0 }?.cancel(.cancelled(url: nil))
                return .more
            })
            let load = stage.load(HopRequest(request: try stage.request()), client)
            box.withLock { $0 = load }
            load.start()
            let log = await client.end()
            box.withLock { $0 = nil }
            #expect(log.error?.code == .cancelled && log.ends == 1 && log.pieces.count == 1)
        }
    }

    @Test(arguments: TestedHTTP.allCases) func aDecompressionBombIsStopped(over testedHTTP: TestedHTTP)
        async throws
    {
        let sent = try CodedBodies.gzip([UInt8](repeating: 0, count: 8 << 20))
        try await withLoads(
            ScriptPlan(.expectHead, .reply(sent, "Content-Encoding: gzip\r\n"), .stall),
            configuration: .with { $0.lupine.expansionLimit = .init(bytes: 1 << 20, ratio: nil) },
            over: testedHTTP
        ) { stage in
            let log = try await stage.send()
            #expect(log.error != nil && log.body.count == 1 << 20)
        }
    }

    /// Checks how much has been delivered when another connection of the same loop is served.
    @Test(
        "decoding a small body that grows lets the loop serve other connections",
        arguments: [false, true], [false, true])
    func givesWay(_ isSaved: Bool, isChunked: Bool) async throws {
        let body = try CodedBodies.gzip([UInt8](repeating: 0, count: 24 << 20))
        let length = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.count)"
        var sent = body
        if isChunked {
            sent = []
            for start in stride(from: 0, to: body.count, by: 400) {
                let chunk = body[start..<min(start + 400, body.count)]
                sent += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
            }
            sent += Array("0\r\n\r\n".utf8)
        }
        let plan = ScriptPlan(
            .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\(length)\r\n\r\n"), .send(sent), .close)
        try await withLoads(plan) { stage in
            let first = LockedValue<Int?>(nil)
            let asked = LockedValue(false)
            let client = LockedValue<RecordingHopClient?>(nil)
            let take: @Sendable (Int) -> Demand = { _ in
                let loop = client.value?.load.withLock { $0?.responseState.withLock { $0.loop } }
                if let loop, !asked.value {
                    asked.set(true)
                    _ = loop.execute {
                        let now = client.value?.currentLog
                        first.set(now.map { $0.count + $0.spliced })
                    }
                }
                return .more
            }
            let null = FileHandle(forWritingAtPath: "/dev/null")
            let file = try #require(null)
            let target = FileTarget(try Descriptor.sharing(file.fileDescriptor))
            let taker = RecordingHopClient(
                plan: { _ in isSaved ? .splice(into: target) : .deliver }, demand: take)
            client.set(taker)
            let log = try await stage.send(taker)
            client.set(nil)
            #expect(log.count + log.spliced == 24 << 20 && log.failure == nil)
            let seen = try #require(first.value)
            #expect(64 << 10...2 << 20 ~= seen, "\(seen)")
        }
    }
}
