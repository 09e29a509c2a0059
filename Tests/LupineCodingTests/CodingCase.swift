// SPDX-License-Identifier: MIT
import LupineCoding
import Testing

/// An encoded body, and the result of decoding it in any division.
struct CodingCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let codings: [ContentCoding]
    let encoded: [UInt8]
    /// The bytes that the stream delivers, including those before a fault.
    let decoded: [UInt8]
    /// Nil when the body is valid.
    let fault: CodingError?
    /// Whether a prefix of the body is also a valid body: one member of two, or the body without trailing bytes.
    let mayEndEarly: Bool

    /// The expected end of the body.
    var end: CodingRun.End { fault.map { .failed($0) } ?? .complete }

    init(
        _ name: String, _ codings: [ContentCoding], _ encoded: [UInt8], gives decoded: [UInt8] = [],
        fault: CodingError? = nil, mayEndEarly: Bool = false
    ) {
        testDescription = name
        self.codings = codings
        self.encoded = encoded
        self.decoded = decoded
        self.fault = fault
        self.mayEndEarly = mayEndEarly
    }

    private static let json = SampleBody.json(rows: 12)
    private static let json40 = SampleBody.json(rows: 40)
    private static let noise = SampleBody.noise(300)
    private static let hello = Array("hello, hello, hello".utf8)
    private static let member = GzipMember.of(hello).bytes
    private static let zlib = encode(hello, as: .deflate)

    static let all = valid + hostile
    static let valid = gzip + deflate + brotli + stacked

    static let gzip: [CodingCase] = [
        CodingCase("gzip: an empty member", [.gzip], GzipMember().bytes),
        CodingCase("gzip: one member", [.gzip], member, gives: hello),
        CodingCase("gzip: from the encoder", [.gzip], encode(json, as: .gzip), gives: json),
        CodingCase("gzip: level 0", [.gzip], encode(noise, as: .gzip, level: .store), gives: noise),
        CodingCase("gzip: bytes that do not shrink", [.gzip], encode(noise, as: .gzip), gives: noise),
        CodingCase(
            "gzip: a stored block", [.gzip],
            GzipMember(data: storedBlock(hello), body: hello).bytes, gives: hello),
        CodingCase("gzip: two members", [.gzip], member + member, gives: hello + hello, mayEndEarly: true),
        CodingCase(
            "gzip: an empty member between two", [.gzip], member + GzipMember().bytes + member,
            gives: hello + hello, mayEndEarly: true),
        CodingCase(
            "gzip: zero padding", [.gzip], member + SampleBody.zeros(20), gives: hello, mayEndEarly: true),
        CodingCase(
            "gzip: a stray line end", [.gzip], member + [0x0d, 0x0a], gives: hello, mayEndEarly: true),
        CodingCase(
            "gzip: trailing text", [.gzip], member + Array("<!-- cached -->".utf8), gives: hello,
            mayEndEarly: true),
        CodingCase(
            "gzip: trailing 1f and another byte", [.gzip], member + [0x1f, 0x00], gives: hello,
            mayEndEarly: true),
        CodingCase(
            "gzip: trailing 1f 8b 00", [.gzip], member + [0x1f, 0x8b, 0x00], gives: hello, mayEndEarly: true),
        CodingCase(
            "gzip: no member is searched for after garbage", [.gzip], member + [0x00] + member,
            gives: hello, mayEndEarly: true),
        CodingCase(
            "gzip: FTEXT", [.gzip],
            GzipMember(isText: true, data: rawDeflate(hello), body: hello).bytes, gives: hello),
        CodingCase(
            "gzip: FHCRC", [.gzip],
            GzipMember(hasHeaderCheck: true, data: rawDeflate(hello), body: hello).bytes, gives: hello),
        CodingCase(
            "gzip: FEXTRA", [.gzip],
            GzipMember(extra: [1, 2, 0x1f, 0x8b, 8], data: rawDeflate(hello), body: hello).bytes,
            gives: hello),
        CodingCase(
            "gzip: FEXTRA of no bytes", [.gzip],
            GzipMember(extra: [], data: rawDeflate(hello), body: hello).bytes, gives: hello),
        CodingCase(
            "gzip: FNAME", [.gzip],
            GzipMember(name: "hello.txt", data: rawDeflate(hello), body: hello).bytes, gives: hello),
        CodingCase(
            "gzip: FCOMMENT", [.gzip],
            GzipMember(comment: "a greeting", data: rawDeflate(hello), body: hello).bytes, gives: hello),
        CodingCase(
            "gzip: every flag", [.gzip],
            GzipMember(
                isText: true, extra: [9, 9], name: "n", comment: "c", hasHeaderCheck: true,
                data: rawDeflate(hello), body: hello
            ).bytes,
            gives: hello),
        CodingCase(
            "gzip: flags on the second member", [.gzip],
            member
                + GzipMember(name: "x", hasHeaderCheck: true, data: rawDeflate(json), body: json).bytes,
            gives: hello + json, mayEndEarly: true),
    ]

    static let deflate: [CodingCase] = [
        CodingCase("deflate: zlib", [.deflate], zlib, gives: hello),
        CodingCase("deflate: zlib, longer", [.deflate], encode(json, as: .deflate), gives: json),
        CodingCase(
            "deflate: zlib, level 0", [.deflate], encode(noise, as: .deflate, level: .store), gives: noise),
        CodingCase(
            "deflate: zlib, level 9", [.deflate], encode(json, as: .deflate, level: .smallest), gives: json),
        CodingCase("deflate: zlib, empty", [.deflate], encode([], as: .deflate)),
        CodingCase(
            "deflate: zlib with a 256-byte window", [.deflate],
            [0x08, 0x1d] + rawDeflate(hello) + zlib.suffix(4), gives: hello),
        CodingCase(
            "deflate: zlib with trailing bytes", [.deflate], zlib + [0, 1, 2], gives: hello, mayEndEarly: true
        ),
        CodingCase("deflate: raw", [.deflate], rawDeflate(hello), gives: hello),
        CodingCase("deflate: raw, longer", [.deflate], rawDeflate(json), gives: json),
        CodingCase("deflate: raw, empty", [.deflate], [0x03, 0x00]),
        CodingCase("deflate: raw, stored", [.deflate], storedBlock(noise), gives: noise),
        CodingCase(
            "deflate: raw, an empty stored block first", [.deflate],
            [0x00, 0x00, 0x00, 0xff, 0xff] + rawDeflate(hello), gives: hello),
        CodingCase(
            "deflate: raw, method 8 but no zlib check", [.deflate],
            // A stored block whose padding is not zero.
            [0x78, 0x05, 0x00, 0xfa, 0xff] + Array("hello".utf8) + [0x03, 0x00],
            gives: Array("hello".utf8)),
        CodingCase(
            "deflate: raw with trailing bytes", [.deflate], rawDeflate(hello) + [0x78, 0x9c], gives: hello,
            mayEndEarly: true),
    ]

    static let brotli: [CodingCase] = [
        CodingCase("br: an empty body", [.br], BrotliFixture.empty),
        CodingCase("br: one byte", [.br], BrotliFixture.oneByte, gives: [0x78]),
        CodingCase("br: a 1 KiB window", [.br], BrotliFixture.smallWindow, gives: json40),
        CodingCase("br: best quality, 16 MiB window", [.br], BrotliFixture.bestQuality, gives: json40),
        CodingCase("br: flushed often", [.br], BrotliFixture.flushed, gives: json40),
        CodingCase("br: bytes that do not shrink", [.br], BrotliFixture.stored, gives: noise),
        CodingCase(
            "br: trailing bytes", [.br], BrotliFixture.oneByte + [0x0b, 0x00], gives: [0x78],
            mayEndEarly: true),
    ]

    static let stacked: [CodingCase] = [
        CodingCase("identity", [], json, gives: json, mayEndEarly: true),
        CodingCase("identity, named twice", [.identity, .identity], hello, gives: hello, mayEndEarly: true),
        CodingCase(
            "identity, gzip, identity", [.identity, .gzip, .identity], member, gives: hello, mayEndEarly: true
        ),
        CodingCase("gzip, gzip", [.gzip, .gzip], encode(member, as: .gzip), gives: hello),
        CodingCase("deflate, gzip", [.deflate, .gzip], encode(rawDeflate(json), as: .gzip), gives: json),
        CodingCase("gzip, deflate", [.gzip, .deflate], rawDeflate(member), gives: hello),
        CodingCase("gzip, br", [.gzip, .br], BrotliFixture.overGzip, gives: json40),
        CodingCase("br, gzip", [.br, .gzip], encode(BrotliFixture.flushed, as: .gzip), gives: json40),
        CodingCase(
            "gzip, gzip, each in two members", [.gzip, .gzip],
            GzipMember.of(member).bytes + GzipMember.of(member).bytes, gives: hello + hello, mayEndEarly: true
        ),
        CodingCase(
            "gzip, gzip, garbage after both", [.gzip, .gzip],
            GzipMember.of(member + [0]).bytes + [0], gives: hello, mayEndEarly: true),
        CodingCase(
            "deflate five times over", [.deflate, .deflate, .deflate, .deflate, .deflate],
            (0..<5).reduce(hello) { body, _ in encode(body, as: .deflate) }, gives: hello),
        CodingCase("an empty body in gzip", [.gzip], []),
        CodingCase("an empty body in deflate", [.deflate], []),
        CodingCase("an empty body in br", [.br], []),
        CodingCase("an empty body in two codings", [.gzip, .br], []),
    ]

    static let hostile: [CodingCase] = [
        CodingCase(
            "gzip: plain text", [.gzip], hello,
            fault: .corrupt(
                coding: .gzip, offset: 0, fault: .header(detail: "incorrect header check"))),
        CodingCase(
            "gzip: zlib labelled as gzip", [.gzip], zlib,
            fault: .corrupt(
                coding: .gzip, offset: 0, fault: .header(detail: "incorrect header check"))),
        CodingCase(
            "gzip: method 7", [.gzip], GzipMember(method: 7).bytes,
            fault: .corrupt(
                coding: .gzip, offset: 2, fault: .header(detail: "unknown compression method"))),
        CodingCase(
            "gzip: reserved flags", [.gzip], GzipMember(reservedFlags: 0x20).bytes,
            fault: .corrupt(
                coding: .gzip, offset: 2, fault: .header(detail: "unknown header flags set"))),
        CodingCase(
            "gzip: header check wrong", [.gzip],
            GzipMember(name: "n", hasHeaderCheck: true, headerCheckError: 1).bytes,
            fault: .corrupt(
                coding: .gzip, offset: 12, fault: .header(detail: "header crc mismatch"))),
        CodingCase(
            "gzip: block type 3", [.gzip], GzipMember(data: [0x07]).bytes,
            fault: .corrupt(coding: .gzip, offset: 11, fault: .data(detail: "invalid block type"))),
        CodingCase(
            "gzip: stored length and its complement differ", [.gzip],
            GzipMember(data: [0x01, 0x05, 0x00, 0xfb, 0xff]).bytes,
            fault: .corrupt(
                coding: .gzip, offset: 11, fault: .data(detail: "invalid stored block lengths"))),
        CodingCase(
            "gzip: a distance before the start", [.gzip], GzipMember(data: [0x03, 0x02, 0x00]).bytes,
            fault: .corrupt(
                coding: .gzip, offset: 12, fault: .data(detail: "invalid distance too far back"))),
        CodingCase(
            "gzip: a wrong CRC-32", [.gzip],
            GzipMember(data: storedBlock(hello), body: hello, checksumError: 1).bytes, gives: hello,
            fault: .corrupt(coding: .gzip, offset: 34, fault: .checksum)),
        CodingCase(
            "gzip: a wrong length", [.gzip],
            GzipMember(data: storedBlock(hello), body: hello, lengthError: 0x0100_0000).bytes,
            gives: hello, fault: .corrupt(coding: .gzip, offset: 38, fault: .length)),
        CodingCase(
            "gzip: the second member's CRC-32 wrong", [.gzip],
            GzipMember().bytes
                + GzipMember(data: storedBlock(hello), body: hello, checksumError: 0x8000_0000).bytes,
            gives: hello, fault: .corrupt(coding: .gzip, offset: 54, fault: .checksum)),
        CodingCase(
            "gzip: the second member's flags reserved", [.gzip],
            GzipMember().bytes + GzipMember(reservedFlags: 0x80).bytes,
            fault: .corrupt(
                coding: .gzip, offset: 22, fault: .header(detail: "unknown header flags set"))),
        CodingCase(
            "gzip: ends with 1f after a member", [.gzip], member + [0x1f], gives: hello,
            fault: .cutShort(coding: .gzip, offset: member.count + 1)),
        CodingCase(
            "gzip: ends with 1f 8b after a member", [.gzip], member + [0x1f, 0x8b], gives: hello,
            fault: .cutShort(coding: .gzip, offset: member.count + 2)),
        CodingCase(
            "deflate: zlib check wrong", [.deflate],
            [0x78, 0x01] + storedBlock(hello) + [1, 2, 3, 4], gives: hello,
            fault: .corrupt(coding: .deflate, offset: 26, fault: .checksum)),
        CodingCase(
            "deflate: a preset dictionary", [.deflate], [0x78, 0x20, 1, 2, 3, 4, 0x03, 0x00, 0, 0, 0, 1],
            fault: .corrupt(coding: .deflate, offset: 6, fault: .dictionary)),
        CodingCase(
            "deflate: plain text", [.deflate], Array("nothing encoded".utf8),
            fault: .corrupt(coding: .deflate, offset: 1, fault: .data(detail: "invalid block type"))),
        CodingCase(
            "deflate: one byte", [.deflate], [0x78], fault: .cutShort(coding: .deflate, offset: 1)),
        CodingCase(
            "br: padding that is not zero", [.br], [0xff, 0xff, 0xff, 0xff, 0xff],
            fault: .corrupt(coding: .br, offset: 0, fault: .data(detail: "PADDING_2"))),
        CodingCase(
            "br: the large window extension", [.br], BrotliFixture.largeWindow,
            fault: .corrupt(coding: .br, offset: 0, fault: .data(detail: "WINDOW_BITS"))),
        CodingCase(
            "gzip, gzip: the inner one is plain text", [.gzip, .gzip], member,
            fault: .corrupt(
                coding: .gzip, offset: 0, fault: .header(detail: "incorrect header check"))),
        CodingCase(
            "deflate, gzip: the outer CRC-32 wrong", [.deflate, .gzip],
            GzipMember(data: storedBlock(zlib), body: zlib, checksumError: 1).bytes, gives: hello,
            fault: .corrupt(coding: .gzip, offset: 15 + zlib.count, fault: .checksum)),
        CodingCase(
            "deflate, gzip: the inner one cut short", [.deflate, .gzip],
            GzipMember.of(zlib.dropLast()).bytes, gives: hello,
            fault: .cutShort(coding: .deflate, offset: zlib.count - 1)),
    ]
}

extension GzipMember {
    /// Returns a member whose data is made by the encoder.
    static func of(_ body: ArraySlice<UInt8>) -> GzipMember { of(Array(body)) }
}
