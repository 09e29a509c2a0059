// SPDX-License-Identifier: MIT
import Testing

@testable import LupineCoding

/// Tests of every `CodingCase`, whole and in every division of input and output.
struct CodingStreamTests {
    @Test(arguments: CodingCase.all)
    func wholeBodies(_ row: CodingCase) {
        let run = CodingRun(row.encoded, row.codings)
        #expect(run.bytes == row.decoded)
        #expect(run.end == row.end)
    }

    @Test(arguments: CodingCase.all)
    func everyCutGivesTheSameResult(_ row: CodingCase) {
        let stream = CodingStream(row.codings)
        for cut in 0...row.encoded.count {
            let run = CodingRun(row.encoded, cutAt: cut, through: stream)
            #expect(run.bytes == row.decoded, "cut at \(cut)")
            #expect(run.end == row.end, "cut at \(cut)")
            stream.reset()
        }
    }

    @Test(arguments: CodingCase.all, [1, 7, 16384])
    func partsAndPiecesOfAnySizeGiveTheSameResult(_ row: CodingCase, piece: Int) {
        for part in [1, 2, 3, 64, 4096] {
            let run = CodingRun(
                row.encoded, inPartsOf: part, through: CodingStream(row.codings), piece: piece)
            #expect(run.bytes == row.decoded, "parts of \(part)")
            #expect(run.end == row.end, "parts of \(part)")
        }
    }

    /// Checks that a truncated body throws `cutShort`, never `corrupt`, wherever it is cut, and delivers a prefix of the body.
    @Test(arguments: CodingCase.valid.filter { !$0.mayEndEarly })
    func truncatedAtEveryByte(_ row: CodingCase) {
        for count in stride(from: 1, to: row.encoded.count, by: 1) {
            let run = CodingRun(Array(row.encoded[..<count]), row.codings)
            guard case .failed(.cutShort(_, let offset)) = run.end else {
                Issue.record("cut after \(count) bytes: \(run.end)")
                continue
            }
            #expect(row.codings.count > 1 || offset == count)
            #expect(row.decoded.starts(with: run.bytes))
        }
    }

    /// Checks that br treats a body with a flipped bit the same in any division, except for how much it delivers before the fault
    /// and the exact error.
    @Test func corruptBrotliFailsInAnyDivision() {
        for index in BrotliFixture.flushed.indices {
            var body = BrotliFixture.flushed
            body[index] ^= 0x10
            let whole = CodingRun(body, [.br])
            let split = CodingRun(body, inPartsOf: 1, through: CodingStream([.br]), piece: 7)
            #expect(split.bytes.starts(with: whole.bytes), "byte \(index)")
            switch (whole.end, split.end) {
            case (.failed(.corrupt(.br, _, .data)), .failed(.corrupt(.br, _, .data))): break
            case (let one, let other): #expect(one == other, "byte \(index)")
            }
        }
    }

    @Test func aCutBetweenMembersIsAnEnd() {
        let first = GzipMember.of(SampleBody.json(rows: 1)).bytes
        let run = CodingRun(Array((first + first)[..<first.count]), [.gzip])
        #expect(run.end == .complete)
    }

    @Test func trailingBytesAreConsumedAndTheEndIsReportedAtOnce() throws {
        var buffer = SampleBody.zeros(64)
        var room = buffer.mutableSpan
        let stream = CodingStream([.br])
        let body = BrotliFixture.oneByte + [1, 2, 3]
        let step = try stream.decode(body.span, into: &room)
        #expect(step == .init(consumed: body.count, produced: 1, status: .done))
        #expect(buffer[0] == 0x78)
    }

    @Test func gzipIsNotDoneAfterAMember() throws {
        var buffer = SampleBody.zeros(64)
        var room = buffer.mutableSpan
        let stream = CodingStream([.gzip])
        let member = GzipMember.of(Array("x".utf8)).bytes
        #expect(try stream.decode(member.span, into: &room).status == .needsInput)
        let garbage: [UInt8] = [0]
        #expect(try stream.decode(garbage.span, into: &room).status == .done)
    }

    @Test func nothingIsReadWithoutRoom() throws {
        var none: [UInt8] = []
        var room = none.mutableSpan
        for codings in [[], [.gzip], [.br], [.gzip, .gzip]] as [[ContentCoding]] {
            let member = GzipMember().bytes
            let step = try CodingStream(codings).decode(member.span, into: &room)
            #expect(step == .init(consumed: 0, produced: 0, status: .needsRoom))
        }
    }

    @Test func finishThrowsTheSameErrorAgain() {
        let hello = Array("hello".utf8)
        let body = GzipMember(data: storedBlock(hello), body: hello, checksumError: 1).bytes
        let stream = CodingStream([.gzip])
        let run = CodingRun([body[...]], through: stream)
        #expect(run.end == .failed(.corrupt(coding: .gzip, offset: 20, fault: .checksum)))
        #expect(throws: CodingError.corrupt(coding: .gzip, offset: 20, fault: .checksum)) {
            try stream.finish()
        }
    }

    /// Checks that flushed bytes are delivered without more input, because event streams may be encoded.
    @Test func flushedBytesAreDeliveredAtOnce() throws {
        let stream = CodingStream([.br])
        let body = BrotliFixture.flushed
        var counts: Set<Int> = []
        var count = 0
        for index in body.indices {
            try stream.push(body.span.extracting(index...index)) { count += $0.count }
            counts.insert(count)
        }
        let total = SampleBody.json(rows: 40).count
        #expect(counts.isSuperset(of: stride(from: 500, to: total, by: 500)))
    }

    /// Checks that the bytes before a fault are delivered in the call before the one that throws, and nothing after it.
    @Test func anErrorIsThrownAfterTheBytesBeforeItAndIsPermanent() throws {
        let hello = Array("hello".utf8)
        let body = GzipMember(data: storedBlock(hello), body: hello, checksumError: 1).bytes
        let error = CodingError.corrupt(coding: .gzip, offset: 20, fault: .checksum)
        var buffer = SampleBody.zeros(64)
        var room = buffer.mutableSpan
        let stream = CodingStream([.gzip])
        let step = try stream.decode(body.span, into: &room)
        #expect(step.produced == 5 && step.status == .needsRoom)
        for _ in 0..<2 {
            #expect(throws: error) { try CodingStreamTests.drain(stream) }
        }
        #expect(throws: error) { try CodingStreamTests.push([], into: stream) }
    }

    @Test(arguments: CodingCase.all)
    func pushDeliversTheSameBytes(_ row: CodingCase) {
        let run = CodingRun(pushing: row.encoded, through: CodingStream(row.codings))
        #expect(run.bytes == row.decoded)
        #expect(run.end == row.end)
    }

    @Test func pushDeliversAnUncodedBodyInOnePiece() throws {
        var sizes: [Int] = []
        let body = SampleBody.noise(200_000)
        try CodingStream([]).push(body.span) { sizes.append($0.count) }
        #expect(sizes == [200_000])
        #expect(CodingStream([]).isIdentity && CodingStream([.identity]).isIdentity)
        #expect(!CodingStream([.gzip]).isIdentity)
    }

    /// Checks that a stream that is reset after any case of a coding decodes every other case correctly.
    @Test(arguments: [[.gzip], [.deflate], [.br], [.deflate, .gzip]] as [[ContentCoding]])
    func aResetStreamDecodesAnyOtherBody(_ codings: [ContentCoding]) {
        let rows = CodingCase.all.filter { $0.codings == codings }
        let stream = CodingStream(codings)
        for first in rows {
            for second in rows {
                // The run stops in the middle of the body.
                _ = CodingRun([first.encoded[..<(first.encoded.count / 2)]], through: stream)
                stream.reset()
                let run = CodingRun([second.encoded[...]], through: stream)
                #expect(run.bytes == second.decoded && run.end == second.end, "\(first) then \(second)")
                stream.reset()
            }
        }
    }

    private static func drain(_ stream: CodingStream) throws(CodingError) {
        var buffer = SampleBody.zeros(64)
        var room = buffer.mutableSpan
        let none: [UInt8] = []
        _ = try stream.decode(none.span, into: &room)
    }

    private static func push(_ bytes: [UInt8], into stream: CodingStream) throws(CodingError) {
        try stream.push(bytes.span) { _ in }
    }

    /// Checks that one call decodes a limited number of octets of brotli, which can be expensive, even within another coding.
    @Test(arguments: [false, true]) func oneCallDecodesLittleBrotli(_ isWrapped: Bool) throws {
        let body = SampleBody.noise(30_000)
        let header = UInt32(body.count - 1) << 4 | 1 << 20
        // One uncompressed meta-block, and the empty last one (RFC 7932 §9.1 and §9.2).
        let plain = [UInt8(header & 0xFF), UInt8(header >> 8 & 0xFF), UInt8(header >> 16)] + body + [3]
        let sent = isWrapped ? encode(plain, as: .gzip) : plain
        let stream = CodingStream(isWrapped ? [.br, .gzip] : [.br])
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        var (read, received) = (0, [UInt8]())
        while true {
            var room = piece.mutableSpan
            let step = try stream.decode(sent.span.extracting(droppingFirst: read), into: &room)
            read += step.consumed
            #expect(step.produced <= 4 << 10)
            received += piece[..<step.produced]
            if step.status != .needsRoom { break }
        }
        #expect(read == sent.count && received == body)
        try stream.finish()
    }
}
