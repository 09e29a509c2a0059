// SPDX-License-Identifier: MIT
import LupineCoding
import Testing

/// Tests that the limits stop decompression bombs, and no other bodies.
struct ExpansionLimitTests {
    private static let floor = 16 << 20

    struct Bomb: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let codings: [ContentCoding]
        let encoded: [UInt8]
    }

    /// Each bomb decodes to many megabytes of zeros.
    private static let bombs = [
        Bomb(testDescription: "br", codings: [.br], encoded: BrotliFixture.bomb),
        Bomb(testDescription: "gzip, br", codings: [.gzip, .br], encoded: BrotliFixture.overGzipBomb),
        Bomb(
            testDescription: "br, gzip", codings: [.br, .gzip],
            encoded: encode(BrotliFixture.bomb, as: .gzip)),
        Bomb(
            testDescription: "gzip, gzip", codings: [.gzip, .gzip],
            encoded: encode(gzipOfZeros, as: .gzip, level: .smallest)),
        Bomb(
            testDescription: "gzip, gzip, gzip", codings: [.gzip, .gzip, .gzip],
            encoded: encode(
                encode(gzipOfZeros, as: .gzip, level: .smallest), as: .gzip, level: .smallest)),
    ]
    private static let gzipOfZeros = encode(
        SampleBody.zeros(24 << 20), as: .gzip, level: .smallest, part: 1 << 20)

    @Test(arguments: bombs)
    func aBombIsStoppedAtTheRatio(_ bomb: Bomb) {
        #expect(bomb.encoded.count < 1024)
        let run = CodingRun(bomb.encoded, bomb.codings, piece: 1 << 20)
        #expect(run.bytes.count == Self.floor)
        #expect(run.bytes.allSatisfy { $0 == 0 })
        guard case .failed(.ratioLimit(_, limit: 1100, let received, decoded: Self.floor)) = run.end else {
            Issue.record("\(run.end)")
            return
        }
        #expect(received <= bomb.encoded.count)
    }

    /// Checks that the limit also applies between two codings: these members decode to nothing, yet together they would pass more
    /// than a megabyte from one coding to the other.
    @Test func aBombOfEmptyMembersIsStoppedBetweenTheCodings() {
        let members = Array(repeatElement(GzipMember().bytes, count: 60_000).joined())
        let body = encode(members, as: .gzip, level: .smallest)
        let limit = ExpansionLimit(ratio: 100, ratioFloor: 10_000)
        let run = CodingRun(body, [.gzip, .gzip], limit: limit)
        #expect(run.bytes.isEmpty)
        guard case .failed(.ratioLimit(.gzip, limit: 20, let received, let decoded)) = run.end else {
            Issue.record("\(run.end)")
            return
        }
        #expect(decoded == max(10_000, received * 20))
        // The same with the standard limit.
        guard
            case .failed(.ratioLimit(.gzip, limit: 20, _, decoded: 1 << 20)) = CodingRun(
                body, [.gzip, .gzip]
            ).end
        else {
            Issue.record("an intermediate form has no limit")
            return
        }
    }

    /// Checks that a call returns after a limited amount of input even if it decodes to nothing, so that the caller can do other
    /// work.
    @Test(arguments: [2, 3]) func theWorkOfACallIsLimited(_ count: Int) throws {
        let members = Array(repeatElement(GzipMember().bytes, count: 20_000).joined())
        var body = members
        for _ in 1..<count { body = encode(body, as: .gzip, level: .smallest) }
        let stream = CodingStream(
            Array(repeating: .gzip, count: count), limit: ExpansionLimit(ratio: nil))
        var piece = [UInt8](repeating: 0, count: 100)
        var (calls, read) = (0, 0)
        while true {
            var room = piece.mutableSpan
            let step = try stream.decode(body.span.extracting(droppingFirst: read), into: &room)
            read += step.consumed
            calls += 1
            #expect(step.produced == 0)
            if step.status != .needsRoom { break }
        }
        #expect(read == body.count && calls >= members.count / (80 << 10), "\(calls)")
        try stream.finish()
    }

    /// Deflate cannot exceed 1032:1, so no regular body in one coding reaches the standard limit.
    @Test func zerosInOneGzipCodingAreAccepted() {
        let run = CodingRun(Self.gzipOfZeros, [.gzip], piece: 1 << 20)
        #expect(run.end == .complete)
        #expect(run.bytes.count == 24 << 20)
    }

    @Test(arguments: [[], [.gzip], [.deflate], [.br], [.gzip, .br], [.br, .gzip]] as [[ContentCoding]])
    func theAbsoluteLimitIsExact(_ codings: [ContentCoding]) throws {
        let row = try #require(
            CodingCase.valid.first { $0.codings == codings && $0.decoded.count > 100 })
        let count = row.decoded.count
        for limit in [0, 1, count / 2, count - 1, count, count + 1] {
            for part in [1, 5, row.encoded.count] {
                let stream = CodingStream(codings, limit: ExpansionLimit(bytes: limit))
                let run = CodingRun(row.encoded, inPartsOf: part, through: stream)
                #expect(run.bytes == Array(row.decoded.prefix(limit)), "limit \(limit), parts of \(part)")
                let error = CodingError.outputLimit(coding: codings.first ?? .identity, limit: limit)
                #expect(run.end == (limit < count ? .failed(error) : .complete), "limit \(limit)")
            }
        }
    }

    @Test func theAbsoluteLimitHoldsForAPushedUncodedBody() throws {
        let stream = CodingStream([], limit: ExpansionLimit(bytes: 10))
        let body = SampleBody.noise(6)
        var count = 0
        try stream.push(body.span) { count += $0.count }
        #expect(throws: CodingError.outputLimit(coding: .identity, limit: 10)) {
            try stream.push(body.span) { count += $0.count }
        }
        #expect(count == 10)
        #expect(throws: CodingError.outputLimit(coding: .identity, limit: 10)) { try stream.finish() }
    }

    /// Checks that an intermediate form larger than the limit does not cause the body to be refused.
    @Test func theAbsoluteLimitAppliesToTheBodyOnly() {
        let body = SampleBody.noise(100)
        let wrapped = encode(encode(body, as: .gzip), as: .gzip)
        let run = CodingRun(wrapped, [.gzip, .gzip], limit: ExpansionLimit(bytes: 100))
        #expect(run.bytes == body)
        #expect(run.end == .complete)
    }

    /// Checks that with gzip the ratio is exact to the byte, in any division of the input.
    @Test func theRatioIsExact() {
        let body = SampleBody.zeros(100_000)
        let encodedBody = encode(body, as: .gzip)
        let limit = ExpansionLimit(ratio: 50, ratioFloor: 1000)
        let whole = CodingRun(encodedBody, [.gzip], limit: limit)
        guard case .failed(.ratioLimit(.gzip, limit: 50, let received, let decoded)) = whole.end else {
            Issue.record("\(whole.end)")
            return
        }
        #expect(decoded == max(1000, 50 * received))
        #expect(whole.bytes.count == decoded)
        for part in [1, 2, 7] {
            let run = CodingRun(
                encodedBody, inPartsOf: part, through: CodingStream([.gzip], limit: limit), piece: 11)
            #expect(run == whole, "parts of \(part)")
        }
    }

    @Test func theRatioCountsAboveItsFloorOnly() {
        let body = SampleBody.zeros(1000)
        let encodedBody = encode(body, as: .deflate)
        for (floor, isAccepted) in [(999, false), (1000, true), (1001, true)] {
            let run = CodingRun(encodedBody, [.deflate], limit: ExpansionLimit(ratio: 2, ratioFloor: floor))
            #expect((run.end == .complete) == isAccepted, "floor \(floor)")
            #expect(run.bytes.count == min(floor, 1000))
        }
    }

    @Test func theLargestRatioDoesNotOverflow() {
        let row = CodingCase.gzip[2]
        let run = CodingRun(row.encoded, [.gzip], limit: ExpansionLimit(ratio: .max, ratioFloor: 0))
        #expect(run.end == .complete)
        let none = ExpansionLimit(bytes: nil, ratio: nil)
        #expect(CodingRun(row.encoded, [.gzip], limit: none).end == .complete)
    }

    @Test func aNegativeLimitAllowsNothing() {
        let row = CodingCase.gzip[2]
        var limit = ExpansionLimit(ratio: nil)
        limit.bytes = -1
        for codings in [[.gzip], []] as [[ContentCoding]] {
            let run = CodingRun(row.encoded, codings, limit: limit)
            #expect(run.bytes.isEmpty)
            #expect(run.end == .failed(.outputLimit(coding: codings.first ?? .identity, limit: -1)))
        }
    }

    /// Checks the documented bounds with bodies that need much memory.
    @Test func memoryStaysWithinItsBound() {
        let noise = SampleBody.noise(200_000)
        let gzip = CodingStream([.gzip])
        #expect(CodingRun([encode(noise, as: .gzip)[...]], through: gzip).end == .complete)
        #expect((32 << 10)...(48 << 10) ~= gzip.peakMemory)
        let br = CodingStream([.br], limit: ExpansionLimit(ratio: nil))
        #expect(CodingRun([BrotliFixture.growingWindow[...]], through: br, piece: 1 << 20).end == .complete)
        #expect((16 << 20)...(32 << 20) ~= br.peakMemory)
    }

    @Test func noMemoryIsUsedBeforeTheFirstByte() {
        let stream = CodingStream([.gzip, .deflate, .br])
        #expect(stream.peakMemory == 0)
    }
}
