// SPDX-License-Identifier: MIT
import LupineCoding
import Testing

/// Tests that encoded bodies decode to the original, at each level and in any division.
struct DeflateEncoderTests {
    private static let body = SampleBody.json(rows: 300) + SampleBody.noise(3000)

    @Test(arguments: DeflateEncoder.Coding.allCases, 0...9)
    func everyLevelIsDecodedUnchanged(_ coding: DeflateEncoder.Coding, _ number: Int) throws {
        let level = try #require(CompressionLevel(rawValue: number))
        let bytes = encode(Self.body, as: coding, level: level)
        let run = CodingRun(bytes, [coding.contentCoding])
        #expect(run.end == .complete)
        #expect(run.bytes == Self.body)
        #expect((bytes.count < Self.body.count / 2) == (number > 0))
    }

    @Test(arguments: [1, 7, 16384], [1, 7, 16384])
    func theDivisionDoesNotChangeTheOutput(part: Int, piece: Int) {
        let whole = encode(Self.body, as: .gzip, part: .max / 2, piece: 1 << 20)
        #expect(encode(Self.body, as: .gzip, part: part, piece: piece) == whole)
    }

    @Test(arguments: DeflateEncoder.Coding.allCases)
    func resetStartsOver(_ coding: DeflateEncoder.Coding) throws {
        let encoder = try DeflateEncoder(coding)
        let first = encode(Self.body, with: encoder)
        encoder.reset()
        var buffer = SampleBody.zeros(4096)
        var room = buffer.mutableSpan
        _ = encoder.encode(Self.body.span, into: &room)
        encoder.reset()
        #expect(encode(Self.body, with: encoder) == first)
    }

    @Test func deflateHasTheZlibFormat() {
        #expect(encode([], as: .deflate) == [0x78, 0x9c, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01])
        #expect(encode([], as: .gzip).starts(with: [0x1f, 0x8b, 0x08, 0x00]))
    }

    /// Checks that after a flush the other side can decode everything encoded so far, and that the body can be continued.
    @Test(arguments: DeflateEncoder.Coding.allCases, [DeflateEncoder.flushRoom, 17, 4096])
    func flushedBytesCanBeDecoded(_ coding: DeflateEncoder.Coding, piece: Int) throws {
        let encoder = try DeflateEncoder(coding)
        let stream = CodingStream([coding.contentCoding])
        var buffer = SampleBody.zeros(4096)
        var pieces = SampleBody.zeros(piece)
        var decoded: [UInt8] = []
        for word in ["one ", "two ", "three"] {
            var room = buffer.mutableSpan
            let encoded = encoder.encode(Array(word.utf8).span, into: &room)
            #expect(encoded.consumed == word.utf8.count && encoded.status == .needsInput)
            var bytes = Array(buffer[..<encoded.produced])
            while true {
                var small = pieces.mutableSpan
                let step = encoder.flush(into: &small)
                bytes += pieces[..<step.produced]
                if step.status == .needsInput { break }
            }
            try stream.push(bytes.span) { piece in
                for index in piece.indices { decoded.append(piece[index]) }
            }
            #expect(String(decoding: decoded, as: UTF8.self).hasSuffix(word))
        }
        #expect(throws: CodingError.self) { try stream.finish() }
    }

    @Test func levels() {
        #expect(CompressionLevel(rawValue: -1) == nil)
        #expect(CompressionLevel(rawValue: 10) == nil)
        #expect(CompressionLevel(rawValue: 6) == .standard)
        #expect([CompressionLevel.store, .fastest, .smallest].map(\.rawValue) == [0, 1, 9])
    }
}
