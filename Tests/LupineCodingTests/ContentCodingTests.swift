// SPDX-License-Identifier: MIT
import LupineCoding
import Testing

/// Tests of the header fields Content-Encoding and Accept-Encoding.
struct ContentCodingTests {
    @Test(
        arguments: [
            ("", []),
            (" \t ", []),
            (",, ,", []),
            ("gzip", [.gzip]),
            ("GZip", [.gzip]),
            ("x-gzip", [.gzip]),
            ("X-GZIP", [.gzip]),
            ("deflate", [.deflate]),
            ("x-deflate", [.deflate]),
            ("br", [.br]),
            ("Br", [.br]),
            ("identity", []),
            ("identity, gzip", [.gzip]),
            ("gzip, br", [.gzip, .br]),
            ("gzip,br", [.gzip, .br]),
            (" gzip\t,\t br ,", [.gzip, .br]),
            ("gzip, gzip, gzip, gzip, gzip", [.gzip, .gzip, .gzip, .gzip, .gzip]),
            ("gzip, identity, gzip, gzip, gzip, gzip, identity", [.gzip, .gzip, .gzip, .gzip, .gzip]),
        ] as [(String, [ContentCoding])])
    func list(_ value: String, _ codings: [ContentCoding]) throws {
        #expect(try ContentCoding.list(value) == codings)
    }

    @Test(arguments: [
        ("zstd", "zstd"),
        ("gzip, zstd", "zstd"),
        ("compress, br", "compress"),
        ("gzip;q=1", "gzip;q=1"),
        ("gz ip", "gz ip"),
        ("gzi", "gzi"),
        ("gzipp", "gzipp"),
        ("\"gzip\"", "\"gzip\""),
        ("*", "*"),
        ("gz\u{0131}p", "gz\u{0131}p"),
        (String(repeating: "a", count: 300), String(repeating: "a", count: 64)),
    ])
    func unknownCodingsAreNamed(_ value: String, _ name: String) {
        #expect(throws: CodingError.unknownCoding(name: name)) { try ContentCoding.list(value) }
    }

    @Test func fieldLinesAreOneList() throws {
        #expect(try ContentCoding.list(["gzip", "", "br, deflate"]) == [.gzip, .br, .deflate])
        #expect(throws: CodingError.tooManyCodings(limit: 5)) {
            try ContentCoding.list(["gzip, gzip", "br, br", "gzip, br"])
        }
    }

    @Test func moreCodingsThanTheLimitAreRefused() {
        #expect(throws: CodingError.tooManyCodings(limit: 5)) {
            try ContentCoding.list("gzip, gzip, gzip, gzip, gzip, gzip")
        }
    }

    @Test func acceptEncoding() {
        #expect(ContentCoding.acceptEncoding() == "br;q=1.0, gzip;q=0.9, deflate;q=0.8")
        #expect(ContentCoding.acceptEncoding([.gzip]) == "gzip;q=1.0")
        #expect(ContentCoding.acceptEncoding([]) == "")
        let many = ContentCoding.acceptEncoding(Array(repeating: .gzip, count: 12))
        #expect(many.hasSuffix("gzip;q=0.1, gzip;q=0.1, gzip;q=0.1"))
    }

    /// Checks that every coding in `Accept-Encoding` can be decoded under the name that is sent.
    @Test func everyAcceptedCodingIsKnown() throws {
        for coding in ContentCoding.decodable {
            #expect(try ContentCoding.list(coding.rawValue) == [coding])
            #expect(!CodingStream([coding]).isIdentity)
        }
    }

    @Test(
        arguments: [
            (.unknownCoding(name: "zstd"), "the content coding \"zstd\" is not known"),
            (
                .tooManyCodings(limit: 5),
                "the body is encoded more than 5 times over (limit: 5 stacked codings)"
            ),
            (
                .corrupt(coding: .gzip, offset: 12, fault: .checksum),
                "the body is not valid gzip: the checksum does not match, at byte 12"
            ),
            (
                .corrupt(coding: .deflate, offset: 0, fault: .dictionary),
                "the body is not valid deflate: a preset dictionary is asked for, at byte 0"
            ),
            (
                .corrupt(coding: .gzip, offset: 2, fault: .header(detail: "unknown compression method")),
                "the body is not valid gzip: bad header (unknown compression method), at byte 2"
            ),
            (
                .corrupt(coding: .gzip, offset: 2, fault: .length),
                "the body is not valid gzip: the noted length does not match, at byte 2"
            ),
            (
                .corrupt(coding: .br, offset: 3, fault: .data(detail: "WINDOW_BITS")),
                "the body is not valid br: bad data (WINDOW_BITS), at byte 3"
            ),
            (.cutShort(coding: .br, offset: 10), "the br body was cut short after 10 bytes"),
            (
                .outputLimit(coding: .gzip, limit: 100),
                "the gzip body decodes to more than 100 bytes (limit: decoded bytes)"
            ),
            (
                .ratioLimit(coding: .br, limit: 1100, received: 80, decoded: 16_777_216),
                "the br body grows more than 1100 times: 80 bytes were read and 16777216 decoded "
                    + "(limit: expansion ratio)"
            ),
            (
                .memoryLimit(coding: .br, limit: 100),
                "there is no more memory for the br body (limit: 100 bytes of working memory)"
            ),
        ] as [(CodingError, String)])
    func errorDescriptions(_ error: CodingError, _ text: String) {
        #expect(error.description == text)
    }
}
