// SPDX-License-Identifier: MIT

import LupineHTTP
import Testing

/// A response that can be parsed in two ways, and the expected result.
///
/// Each response is followed, in the same packet, by a forged second response with the content `POISON`: a client that ends the
/// first message at another place takes it for the response to the next request.
struct SplittingCase: Sendable, CustomTestStringConvertible {
    /// The expected result of a response.
    enum Expectation: Sendable {
        /// The client refuses the response for this reason, and closes its connection.
        case refused(HTTPError)
        /// The client delivers the response with this content, and does not reuse its connection.
        case delivered(String)
    }

    let testDescription: String
    let answer: [UInt8]
    let expectation: Expectation
    var method = "GET"

    /// Whether the client must refuse the response.
    var isRefused: Bool {
        switch expectation {
        case .refused: true
        case .delivered: false
        }
    }

    static let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPOISON"

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunks = "5\r\nhello\r\n0\r\n\r\n"

    /// Returns a response with these header lines and this body.
    private static func row(
        _ name: String, _ lines: String, _ body: String = "", _ expectation: Expectation
    ) -> SplittingCase {
        SplittingCase(
            testDescription: name, answer: Array("\(ok)\(lines)\r\n\(body)\(forged)".utf8),
            expectation: expectation)
    }

    /// Returns a response whose head is refused.
    private static func refused(_ name: String, _ lines: String, _ error: HTTPError) -> SplittingCase {
        row(name, lines, "hello", .refused(error))
    }

    /// Returns a chunked response.
    private static func chunked(_ name: String, _ body: String, _ expectation: Expectation) -> SplittingCase {
        row(name, "Transfer-Encoding: chunked\r\n", body, expectation)
    }

    /// Returns a response with the octets `text`.
    private static func raw(
        _ name: String, _ text: String, _ expectation: Expectation, method: String = "GET"
    ) -> SplittingCase {
        SplittingCase(
            testDescription: name, answer: Array((text + forged).utf8), expectation: expectation,
            method: method)
    }

    static let all = lengths + codings + lines + chunkShapes + trailers + startLines + interims + bodiless

    // MARK: content lengths

    static let lengths: [SplittingCase] =
        [
            row("a length and octets after it", "Content-Length: 5\r\n", "hello", .delivered("hello")),
            row(
                "the same length twice", "Content-Length: 5\r\nContent-Length: 5\r\n", "hello",
                .delivered("hello")),
            row("a list of one length", "Content-Length: 5, 5\r\n", "hello", .delivered("hello")),
            refused(
                "two lengths", "Content-Length: 5\r\nContent-Length: 0\r\n",
                .conflictingContentLengths(Excerpt("5"), Excerpt("0"))),
            refused(
                "a list of two lengths", "Content-Length: 5, 0\r\n",
                .conflictingContentLengths(Excerpt("5"), Excerpt("0"))),
            refused(
                "two lengths, one in another case", "Content-Length: 5\r\ncontent-length: 50\r\n",
                .conflictingContentLengths(Excerpt("5"), Excerpt("50"))),
            refused(
                "a list that ends in a comma", "Content-Length: 5,\r\n", .invalidContentLength(Excerpt(""))),
        ]
        + [
            ("a plus", "+5"), ("a minus", "-5"), ("hexadecimal", "0x5"), ("no digits", ""),
            ("a fraction", "5.0"),
            ("an exponent", "5e0"), ("a blank in it", "5 0"), ("quotes", "\"5\""), ("letters", "five"),
            ("an underscore", "5_0"), ("a trailing semicolon", "5;"),
            ("2^63", "9223372036854775808"), ("2^64 and five", "18446744073709551621"),
            ("a thousand digits", String(repeating: "9", count: 1_000)),
        ].map { name, value in
            refused(
                "a length with \(name)", "Content-Length: \(value)\r\n", .invalidContentLength(Excerpt(value))
            )
        } + [
            refused(
                "a length with a vertical tab", "Content-Length: \u{0B}5\r\n",
                .invalidFieldValue(octet: 0x0B, offset: 33)),
            refused(
                "a blank before the colon of a length", "Content-Length : 5\r\n",
                .whitespaceBeforeColon(offset: 31)),
        ]

    static let codings: [SplittingCase] =
        [
            row(
                "a length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n",
                .delivered("")),
            row(
                "chunks and a length", "Transfer-Encoding: chunked\r\nContent-Length: 50\r\n", chunks,
                .delivered("hello")),
            row("chunked in capitals", "Transfer-Encoding: CHUNKED\r\n", chunks, .delivered("hello")),
            row("chunked between tabs", "Transfer-Encoding: \tchunked\t\r\n", chunks, .delivered("hello")),
            refused(
                "chunks and an invalid length", "Transfer-Encoding: chunked\r\nContent-Length: x\r\n",
                .invalidContentLength(Excerpt("x"))),
            refused(
                "chunked after a vertical tab", "Transfer-Encoding: \u{0B}chunked\r\n",
                .invalidFieldValue(octet: 0x0B, offset: 36)),
            refused(
                "a blank before the colon of the coding", "Transfer-Encoding : chunked\r\n",
                .whitespaceBeforeColon(offset: 34)),
            refused(
                "chunked on two lines", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                .invalidTransferEncoding(Excerpt("chunked, chunked"))),
            refused(
                "identity on a second line", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
                .invalidTransferEncoding(Excerpt("chunked, identity"))),
        ]
        + [
            "identity", "identity, chunked", "chunked, identity", "chunked, chunked", "xchunked", "chunkedx",
            "x-chunked", "gzip, chunked", "gzip", "chunked;q=1", "\"chunked\"", "chun ked", "cow", "",
        ].flatMap { value in
            ["", "Content-Length: 5\r\n"].map { length in
                refused(
                    "the coding '\(value)'\(length.isEmpty ? "" : " and a length")",
                    "\(length)Transfer-Encoding: \(value)\r\n", .invalidTransferEncoding(Excerpt(value)))
            }
        }

    // MARK: lines

    static let lines: [SplittingCase] = [
        row("a folded length", "Content-Length:\r\n 5\r\n", "hello", .delivered("hello")),
        row(
            "a length hidden in a fold", "X: a\r\n Content-Length: 50\r\nContent-Length: 5\r\n", "hello",
            .delivered("hello")),
        row(
            "chunked hidden in a fold", "X: a\r\n\tTransfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            "hello",
            .delivered("hello")),
        row("bare line feeds in the head", "X: a\nContent-Length: 5\n", "hello", .delivered("hello")),
        refused(
            "a length folded in its middle", "Content-Length: 5\r\n 0\r\n",
            .invalidContentLength(Excerpt("5 0"))),
        refused(
            "a bare CR that hides a length", "X: a\rContent-Length: 50\r\nContent-Length: 5\r\n",
            .bareCarriageReturn(offset: 21)),
        refused(
            "a bare CR after a length", "Content-Length: 5\r\r\n", .bareCarriageReturn(offset: 34)),
        refused("NUL in a name", "Content\0-Length: 5\r\n", .invalidFieldName(octet: 0, offset: 24)),
        refused("NUL in a value", "Content-Length: 5\u{0}0\r\n", .invalidFieldValue(octet: 0, offset: 34)),
        refused(
            "NUL after a coding", "Transfer-Encoding: chunked\0\r\n",
            .invalidFieldValue(octet: 0, offset: 43)),
        refused("a line without a colon", "Content-Length\r\n", .invalidFieldName(octet: 0x0D, offset: 31)),
        refused("a name that is empty", ": 5\r\n", .invalidFieldName(octet: 0x3A, offset: 17)),
        refused("a first line that is folded", " Content-Length: 5\r\n", .foldedLine(offset: 17)),
        refused(
            "a name with a letter beyond ASCII", "Content\u{2010}Length: 5\r\n",
            .invalidFieldName(octet: 0xE2, offset: 24)),
    ]

    // MARK: chunks

    static let chunkShapes: [SplittingCase] = [
        chunked("chunks and octets after them", chunks, .delivered("hello")),
        chunked("zeros before a size", "000005\r\nhello\r\n0000\r\n\r\n", .delivered("hello")),
        chunked("an extension", "5;a=b;c=\"d;\"\r\nhello\r\n0;e\r\n\r\n", .delivered("hello")),
        chunked(
            "a flood of zeros before a size", String(repeating: "0", count: 400) + "5\r\nhello\r\n0\r\n\r\n",
            .refused(.chunkSizeOverflow(offset: 16))),
        chunked(
            "a size that wraps to five", "10000000000000005\r\nhello\r\n0\r\n\r\n",
            .refused(.chunkSizeOverflow(offset: 16))),
        chunked("a size of 2^63", "8000000000000000\r\n", .refused(.chunkSizeOverflow(offset: 15))),
        chunked("a size with a sign", "+5\r\nhello", .refused(.malformedChunkSize(octet: 0x2B, offset: 0))),
        chunked("a negative size", "-5\r\nhello", .refused(.malformedChunkSize(octet: 0x2D, offset: 0))),
        chunked(
            "a size with a prefix", "0x5\r\nhello", .refused(.malformedChunkSize(octet: 0x78, offset: 1))),
        chunked("an empty size", "\r\nhello", .refused(.malformedChunkSize(octet: 0x0D, offset: 0))),
        chunked(
            "a blank before a size", " 5\r\nhello", .refused(.malformedChunkSize(octet: 0x20, offset: 0))),
        chunked(
            "a blank after a size", "5 \r\nhello", .refused(.malformedChunkSize(octet: 0x0D, offset: 2))),
        chunked("two sizes", "5 0\r\nhello", .refused(.malformedChunkSize(octet: 0x30, offset: 2))),
        chunked(
            "an underscore in a size", "5_0\r\nhello", .refused(.malformedChunkSize(octet: 0x5F, offset: 1))),
        chunked(
            "a bare line feed after a size", "5\nhello",
            .refused(.malformedChunkSize(octet: 0x0A, offset: 1))),
        chunked("a bare CR after a size", "5\rhello", .refused(.malformedChunkEnd(octet: 0x68, offset: 2))),
        chunked(
            "a bare line feed in an extension", "5;a\nhello",
            .refused(.malformedChunkExtension(octet: 0x0A, offset: 3))),
        chunked("NUL in an extension", "5;a\0\r\n", .refused(.malformedChunkExtension(octet: 0, offset: 3))),
        chunked(
            "a quoted line end in an extension", "5;a=\"\r\n0\r\n\r\n\"\r\nhello\r\n0\r\n\r\n",
            .refused(.malformedChunkEnd(octet: 0x22, offset: 12))),
        chunked(
            "an extension without end", "5;" + String(repeating: "a", count: 5_000),
            .refused(.limitExceeded(.chunkExtensionBytes, allowed: 4_096))),
        chunked(
            "many extensions with little content",
            String(repeating: "1;\(String(repeating: "a", count: 100))\r\nx\r\n", count: 60),
            .refused(.limitExceeded(.chunkExtensionBytes, allowed: 4_096))),
        chunked(
            "a chunk longer than its size", "5\r\nhello!\r\n0\r\n\r\n",
            .refused(.malformedChunkEnd(octet: 0x21, offset: 8))),
        chunked(
            "a chunk shorter than its size", "6\r\nhello\r\n0\r\n\r\n",
            .refused(.malformedChunkEnd(octet: 0x0A, offset: 9))),
        chunked(
            "a bare line feed after a chunk", "5\r\nhello\n0\r\n\r\n",
            .refused(.malformedChunkEnd(octet: 0x0A, offset: 8))),
    ]

    static let trailers: [SplittingCase] = [
        chunked(
            "trailers that would frame the next message",
            "5\r\nhello\r\n0\r\nContent-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n", .delivered("hello")
        ),
        chunked(
            "a folded trailer", "0\r\nA: b\r\n c\r\n\r\n", .refused(.foldedLine(offset: 6))),
        chunked("a bare line feed in trailers", "0\r\nA: b\n\r\n", .refused(.bareLineFeed(offset: 4))),
        chunked("a bare CR in trailers", "0\r\nA: b\rC: d\r\n\r\n", .refused(.bareCarriageReturn(offset: 4))),
        chunked("NUL in a trailer", "0\r\nA: \0\r\n\r\n", .refused(.invalidFieldValue(octet: 0, offset: 3))),
        chunked(
            "more trailers than fields are allowed",
            "0\r\n" + String(repeating: "A: b\r\n", count: 1_001) + "\r\n",
            .refused(.limitExceeded(.fieldCount, allowed: 1_000))),
    ]

    // MARK: start lines

    static let startLines: [SplittingCase] = [
        raw("HTTP/0.9", "<html>hello</html>\r\n", .refused(.notHTTP(octet: 0x3C, offset: 0))),
        raw("only a line end", "\r\n", .refused(.notHTTP(octet: 0x0D, offset: 0))),
        raw("another protocol", "ICY 200 OK\r\n\r\n", .refused(.notHTTP(octet: 0x49, offset: 0))),
        raw("small letters", "http/1.1 200 OK\r\n\r\n", .refused(.notHTTP(octet: 0x68, offset: 0))),
        raw("a blank first", " HTTP/1.1 200 OK\r\n\r\n", .refused(.notHTTP(octet: 0x20, offset: 0))),
        raw("HTTP/2", "HTTP/2 200\r\n\r\n", .refused(.unsupportedVersion(Excerpt("HTTP/2")))),
        raw("HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n", .refused(.unsupportedVersion(Excerpt("HTTP/2.0")))),
        raw(
            "HTTP/0.9 in a status line", "HTTP/0.9 200 OK\r\n\r\n",
            .refused(.unsupportedVersion(Excerpt("HTTP/0.9")))),
        raw(
            "a version of two digits", "HTTP/1.10 200 OK\r\n\r\n",
            .refused(.unsupportedVersion(Excerpt("HTTP/1.10")))),
        raw("two blanks", "HTTP/1.1  200 OK\r\n\r\n", .refused(.malformedStartLine(octet: 0x20, offset: 9))),
        raw("a tab", "HTTP/1.1\t200 OK\r\n\r\n", .refused(.malformedStartLine(octet: 0x09, offset: 8))),
        raw(
            "a status of two digits", "HTTP/1.1 20 OK\r\n\r\n",
            .refused(.malformedStartLine(octet: 0x20, offset: 11))),
        raw(
            "a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n",
            .refused(.malformedStartLine(octet: 0x30, offset: 12))),
        raw(
            "a status with a sign", "HTTP/1.1 +20 OK\r\n\r\n",
            .refused(.malformedStartLine(octet: 0x2B, offset: 9))),
        raw("a status below 100", "HTTP/1.1 099 OK\r\n\r\n", .refused(.invalidStatusCode(99))),
        raw(
            "NUL in the reason", "HTTP/1.1 200 O\0K\r\n\r\n",
            .refused(.invalidFieldValue(octet: 0, offset: 14))),
        raw(
            "a bare CR in the reason", "HTTP/1.1 200 O\rK\r\n\r\n", .refused(.bareCarriageReturn(offset: 14))),
        raw(
            "no reason", "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", .delivered("hello")),
        raw(
            "an unregistered status", "HTTP/1.1 799 Odd\r\nContent-Length: 5\r\n\r\nhello",
            .delivered("hello")),
        raw(
            "a status line that never ends", "HTTP/1.1 200 " + String(repeating: "a", count: 70_000),
            .refused(.limitExceeded(.lineBytes, allowed: 65_536))),
    ]

    // MARK: interim heads

    private static func flood(_ code: Int, _ count: Int) -> String {
        String(repeating: "HTTP/1.1 \(code) Word\r\nLink: </a>\r\n\r\n", count: count)
    }

    static let interims: [SplittingCase] =
        [100, 102, 103, 199].flatMap { code in
            [
                raw(
                    "\(code) thirty-two times", flood(code, 32) + "\(ok)Content-Length: 5\r\n\r\nhello",
                    .delivered("hello")),
                raw(
                    "\(code) thirty-three times", flood(code, 33) + "\(ok)Content-Length: 5\r\n\r\nhello",
                    .refused(.limitExceeded(.interimHeads, allowed: 32))),
            ]
        } + [
            raw(
                "an interim head that announces content",
                "HTTP/1.1 103 Early\r\nContent-Length: 500\r\n\r\n\(ok)Content-Length: 5\r\n\r\nhello",
                .delivered("hello")),
            raw(
                "a chunked interim head",
                "HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n\(ok)Content-Length: 5\r\n\r\nhello",
                .delivered("hello")),
            raw(
                "101 without an upgrade in the request",
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
                .refused(.unexpectedUpgrade)),
            raw(
                "101 after an interim head", flood(103, 1) + "HTTP/1.1 101 Switching Protocols\r\n\r\n",
                .refused(.unexpectedUpgrade)),
        ]

    // MARK: responses without content

    static let bodiless: [SplittingCase] = [
        raw(
            "204 that announces content", "HTTP/1.1 204 None\r\nContent-Length: 5\r\n\r\nhello",
            .delivered("")),
        raw(
            "chunked 204", "HTTP/1.1 204 None\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)",
            .delivered("")),
        raw("204 and octets after it", "HTTP/1.1 204 None\r\n\r\n", .delivered("")),
        raw("304 with content", "HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\nhello", .delivered("")),
        raw(
            "content that answers HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", .delivered(""),
            method: "HEAD"),
        raw(
            "chunks that answer HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)",
            .delivered(""),
            method: "HEAD"),
        raw("no content by its length", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .delivered("")),
    ]
}
