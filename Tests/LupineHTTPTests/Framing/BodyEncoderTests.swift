// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

@Suite struct BodyEncoderTests {
    /// Encodes a body whose pieces have the lengths `pieces`. Each octet of content is a dot.
    static func wire(
        _ encoder: BodyEncoder, _ pieces: [Int], trailers: Fields = Fields()
    ) throws(HTTPError) -> String {
        var encoder = encoder
        var output: [UInt8] = []
        for count in pieces {
            try encoder.beginContent(count, into: &output)
            output += [UInt8](repeating: 0x2E, count: count)
        }
        try encoder.end(trailers: trailers, into: &output)
        return output.span.text(0..<output.count)
    }

    @Test(arguments: [
        ([], "0\r\n\r\n"), ([1], "1\r\n.\r\n0\r\n\r\n"), ([0], "0\r\n\r\n"),
        ([2, 0, 3], "2\r\n..\r\n3\r\n...\r\n0\r\n\r\n"),
        ([10], "a\r\n..........\r\n0\r\n\r\n"), ([16], "10\r\n................\r\n0\r\n\r\n"),
    ])
    func chunks(_ pieces: [Int], _ wire: String) throws {
        #expect(try Self.wire(BodyEncoder(.unknown), pieces) == wire)
    }

    @Test func chunkSizesAreHexadecimal() throws {
        for count in [15, 255, 256, 0xABCDE, Int.max] {
            var encoder = BodyEncoder(.unknown)
            var output: [UInt8] = []
            try encoder.beginContent(count, into: &output)
            #expect(output == Array((String(count, radix: 16) + "\r\n").utf8))
        }
    }

    @Test func trailersFollowTheLastChunk() throws {
        var trailers = Fields()
        try trailers.append(FieldName("Digest"), "abc")
        #expect(
            try Self.wire(BodyEncoder(.unknown), [1], trailers: trailers)
                == "1\r\n.\r\n0\r\nDigest: abc\r\n\r\n")
    }

    @Test(arguments: [
        "Content-Length", "TRANSFER-ENCODING", "host", "Set-Cookie", "Authorization", "Content-Type",
        "Trailer",
    ])
    func forbiddenTrailersAreRefused(_ name: String) throws {
        var trailers = Fields()
        try trailers.append(FieldName(name), "x")
        var encoder = BodyEncoder(.unknown)
        var output: [UInt8] = []
        #expect(throws: HTTPError.forbiddenTrailerToSend(Excerpt(name))) {
            try encoder.end(trailers: trailers, into: &output)
        }
        #expect(output.isEmpty)
    }

    @Test(arguments: [(OutgoingBody.known(1), [1]), (.known(0), []), (.none, [])])
    func trailersNeedChunks(_ body: OutgoingBody, _ pieces: [Int]) throws {
        var trailers = Fields()
        try trailers.append(FieldName("Digest"), "abc")
        #expect(throws: HTTPError.trailerWithoutChunks(Excerpt("Digest"))) {
            try Self.wire(BodyEncoder(body), pieces, trailers: trailers)
        }
        // `untilClose` drops trailers without an error: an HTTP/1.0 client is the reason, not the caller.
        #expect(try Self.wire(.untilClose, pieces, trailers: trailers) == pieces.map { _ in "." }.joined())
    }

    @Test func aKnownLengthAddsNoFraming() throws {
        #expect(try Self.wire(BodyEncoder(.known(5)), [2, 0, 3]) == ".....")
        #expect(try Self.wire(BodyEncoder(.known(0)), []) == "")
        #expect(try Self.wire(.untilClose, [2, 3]) == ".....")
        #expect(try Self.wire(BodyEncoder(.none), []) == "")
    }

    @Test(arguments: [
        (OutgoingBody.known(5), [4], Int64(5), Int64(4)), (.known(5), [6], 5, 6), (.known(5), [5, 1], 5, 6),
        (.known(5), [], 5, 0), (.known(0), [1], 0, 1), (.none, [1], 0, 1),
        (.known(.max), [Int.max, 1], .max, .max),
    ])
    func lengthsThatDoNotMatch(_ body: OutgoingBody, _ pieces: [Int], _ announced: Int64, _ given: Int64) {
        #expect(throws: HTTPError.bodyLengthMismatch(announced: announced, given: given)) {
            var encoder = BodyEncoder(body)
            var output: [UInt8] = []
            for count in pieces { try encoder.beginContent(count, into: &output) }
            try encoder.end(trailers: Fields(), into: &output)
        }
    }
}
