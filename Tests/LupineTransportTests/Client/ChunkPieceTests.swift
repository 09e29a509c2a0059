// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// How the chunks of a transfer coding become the pieces of a response body.
@Suite struct ChunkPieceTests {
    private static func chunked(_ chunks: [[UInt8]]) -> [UInt8] {
        var wire = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        for chunk in chunks {
            wire += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
        }
        return wire + Array("0\r\n\r\n".utf8)
    }

    private static func pieces(of chunks: [[UInt8]]) async throws -> [[UInt8]] {
        let plan = ScriptPlan([Script([.expectHead, .send(chunked(chunks)), .stall])])
        return try await withStack(plan) { client, origin in
            var pieces: [[UInt8]] = []
            for try await piece in try await client.get(origin.url + "/").body { pieces.append(piece) }
            return pieces
        }
    }

    @Test func eachChunkIsAPiece() async throws {
        let chunks = ["one", "two", "three", "four", "five"].map { Array($0.utf8) }
        #expect(try await Self.pieces(of: chunks) == chunks)
    }

    /// At most 64 pieces wait for the consumer; the chunks after them are joined.
    @Test func tinyChunksAreJoined() async throws {
        let octets = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let pieces = try await Self.pieces(of: octets.map { [$0] })
        #expect(Array(pieces.joined()) == octets && pieces.count < octets.count / 4)
    }

    /// Objects that the program's closure captures are not released on a loop, even if the loop has the last reference to the
    /// request.
    @Test(arguments: TestedHTTP.allCases) func theClosureOfABodyIsNotReleasedOnALoop(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        final class Owner: Sendable {
            let ended: @Sendable (Bool) -> Void
            init(_ ended: @escaping @Sendable (Bool) -> Void) { self.ended = ended }
            deinit { ended(EventLoop.current != nil) }
        }
        let (ends, end) = AsyncStream<Bool>.makeStream()
        try await withStack(ScriptPlan([Script([.expectHead, .reply("x"), .stall])]), over: testedHTTP) {
            client, origin in
            func send() async throws -> HTTPResponse {
                let owner = Owner { end.yield($0) }
                let body = HTTPRequest.Body.stream(length: nil) {
                    withExtendedLifetime(owner) {}
                    return nil
                }
                return try await client.send(
                    HTTPRequest(method: .post, url: origin.url + "/", body: body))
            }
            _ = try await send().body.collect()
            var ended = ends.makeAsyncIterator()
            #expect(await ended.next() == false)
        }
    }
}
