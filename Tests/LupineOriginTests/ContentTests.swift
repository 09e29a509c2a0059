// SPDX-License-Identifier: MIT

import LupineCoding
import LupineHTTP
import Testing

@testable import LupineOrigin

@Suite struct ContentTests {
    @Test(arguments: [
        "{}", "[]", "null", "-0.5e+3", " {\"a\": [1, true, \"\\u00e9\\n\"], \"b\": {}} ", "\"é\"", "0",
    ])
    func jsonThatIsOne(_ text: String) { #expect(JSONSyntax.accepts(Array(text.utf8))) }

    @Test(arguments: [
        "", "{", "{\"a\"}", "[1,]", "01", "1.", "\"\\x\"", "\"\\u12g4\"", "nul", "1 2", "{a:1}", "\"\n\"",
        "-",
        String(repeating: "[", count: 100) + String(repeating: "]", count: 100),
    ])
    func jsonThatIsNone(_ text: String) { #expect(!JSONSyntax.accepts(Array(text.utf8))) }

    @Test func jsonAsItIsWritten() {
        let value = JSON.object([
            ("a", .array([.number(-1), .null, .bool(true)])), ("b", .string("q\"\\\n\u{1}é")),
            ("c", .object([])),
        ])
        #expect(
            String(decoding: JSONWriter.line(value), as: UTF8.self)
                == "{\"a\": [-1, null, true], \"b\": \"q\\\"\\\\\\n\\u0001é\", \"c\": {}}\n")
        #expect(JSONSyntax.accepts(JSONWriter.document(value)))
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 200_000])
    func storedBrotliIsBrotli(_ length: Int) throws {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
        let stream = CodingStream([.br])
        let coded = UncompressedBrotli.encoded(bytes)
        var decoded: [UInt8] = []
        try stream.push(coded.span) { piece in
            for index in piece.indices { decoded.append(piece[index]) }
        }
        try stream.finish()
        #expect(decoded == bytes)
    }

    @Test(
        arguments: [
            (nil, .whole), ("bytes=0-0", .part(0..<1)), ("bytes=5-", .part(5..<10)),
            ("bytes=-3", .part(7..<10)),
            ("bytes=-30", .part(0..<10)), ("bytes=8-99", .part(8..<10)), ("bytes=10-", .unsatisfiable),
            ("bytes=-0", .unsatisfiable), ("bytes=4-3", .whole), ("bytes=0-1,3-4", .whole),
            ("lines=0-1", .whole),
            ("bytes=a-b", .whole), ("bytes=-", .whole), ("bytes=0-9223372036854775807", .part(0..<10)),
            ("bytes=99999999999999999999-", .whole),
        ] as [(String?, ByteRange)])
    func ranges(_ text: String?, _ expected: ByteRange) { #expect(ByteRange(text, length: 10) == expected) }

    @Test(arguments: [("a%20b+c", "a b+c"), ("%zz%4", "%zz%4"), ("%C3%A9", "é"), ("", "")])
    func percentCoding(_ coded: String, _ plain: String) { #expect(PercentCoding.decoded(coded) == plain) }

    /// Checks that text that would be slow to compare is decoded octet by octet.
    @Test func percentCodingOfMarks() {
        let marks = String(repeating: "\u{301}", count: 40)
        let octets = String(String.UnicodeScalarView(marks.utf8.map { Unicode.Scalar($0) }))
        #expect(PercentCoding.decoded("e" + marks) == "e" + octets)
        #expect(PercentCoding.decoded("e" + String(repeating: "%CC%81", count: 40)) == "e" + octets)
    }

    @Test func formPairs() {
        let pairs = FormPairs("a=1&b=x+y&a=%26&c&&d=")
        #expect(pairs.pairs.map(\.name) == ["a", "b", "a", "c", "d"])
        #expect(pairs.pairs.map(\.value) == ["1", "x y", "&", "", ""])
        let line = String(decoding: JSONWriter.line(pairs.json), as: UTF8.self)
        #expect(line == "{\"a\": [\"1\", \"&\"], \"b\": \"x y\", \"c\": \"\", \"d\": \"\"}\n")
    }
}
