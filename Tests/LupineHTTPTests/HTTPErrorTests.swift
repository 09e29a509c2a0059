// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

@Suite struct HTTPErrorTests {
    typealias Row = (error: HTTPError, fault: HTTPError.Fault, text: String)

    static let excerpt = Excerpt("x\r\n")

    /// One row for each case.
    static let rows: [Row] = [
        (
            .notHTTP(octet: 0x3C, offset: 0), .remote,
            "the first line is not HTTP/1.1: '<' at offset 0 (HTTP/0.9, or another protocol on this port)"
        ),
        (.http2Preface, .remote, "the peer speaks HTTP/2 without having been asked to"),
        (.unsupportedVersion(Excerpt("HTTP/2.0")), .remote, "the peer speaks \"HTTP/2.0\", not HTTP/1.x"),
        (
            .malformedStartLine(octet: 0x20, offset: 9), .remote,
            "the first line is malformed: a space at offset 9"
        ),
        (
            .malformedTarget(Excerpt("x")), .remote,
            "the request asks for something that is no request target: \"x\""
        ),
        (.invalidStatusCode(99), .remote, "99 is not a status code"),
        (.missingReason(offset: 12), .remote, "the status line ends at offset 12, right behind its code"),
        (.bareLineFeed(offset: 3), .remote, "a line ends in LF without CR at offset 3"),
        (.bareCarriageReturn(offset: 3), .remote, "a CR without LF at offset 3"),
        (.foldedLine(offset: 3), .remote, "a folded header line at offset 3"),
        (.invalidFieldName(octet: 9, offset: 3), .remote, "a header name holds a tab at offset 3"),
        (
            .whitespaceBeforeColon(offset: 3), .remote,
            "white space between a header name and its colon at offset 3"
        ),
        (.invalidFieldValue(octet: 0, offset: 3), .remote, "a header value holds NUL at offset 3"),
        (.invalidContentLength(excerpt), .remote, "Content-Length is not a number that fits: \"x\\r\\n\""),
        (
            .conflictingContentLengths(Excerpt("1"), Excerpt("2")), .remote,
            "more than one Content-Length: \"1\" and \"2\""
        ),
        (
            .invalidTransferEncoding(Excerpt("gzip")), .remote,
            "Transfer-Encoding must end in a single \"chunked\": \"gzip\""
        ),
        (.ambiguousFraming, .remote, "both Content-Length and Transfer-Encoding in one request"),
        (.transferEncodingInHTTP10, .remote, "Transfer-Encoding in an HTTP/1.0 request"),
        (.invalidHost(Excerpt("")), .remote, "a request needs one well-formed Host: \"\""),
        (
            .malformedChunkSize(octet: 0x0D, offset: 1), .remote,
            "a chunk size holds CR at offset 1 of the body"
        ),
        (
            .chunkSizeOverflow(offset: 16), .remote,
            "a chunk size does not fit 63 bits at offset 16 of the body"
        ),
        (
            .malformedChunkExtension(octet: 0x0A, offset: 1), .remote,
            "a chunk extension holds LF at offset 1 of the body"
        ),
        (
            .malformedChunkEnd(octet: 0xFF, offset: 1), .remote,
            "CRLF was due after a chunk, byte 0xff came at offset 1 of the body"
        ),
        (
            .unexpectedBytes(octet: 0x07), .remote,
            "bytes came that belong to no response, the first is byte 0x07"
        ),
        (.unexpectedUpgrade, .remote, "the peer switched protocols (101) without having been asked to"),
        (
            .limitExceeded(.fieldCount, allowed: 3), .remote,
            "header fields (fieldCount) exceed the limit of 3"
        ),
        (
            .truncated(.beforeHead), .remote,
            "the peer closed the connection before the head of its answer"
        ),
        (.invalidMethod(excerpt), .local, "not a method: \"x\\r\\n\""),
        (.invalidTarget(excerpt), .local, "not a request target: \"x\\r\\n\""),
        (.invalidAuthority(excerpt), .local, "not a host and port: \"x\\r\\n\""),
        (.invalidNameToSend(excerpt), .local, "not a header name: \"x\\r\\n\""),
        (
            .invalidValueToSend(name: Excerpt("Cookie"), octet: 0x0D), .local,
            "the value of header \"Cookie\" holds CR, which cannot be sent"
        ),
        (
            .framingFieldToSend(Excerpt("Content-Length")), .local,
            "header \"Content-Length\" is set from the body's length and cannot be given"
        ),
        (
            .missingHostToSend, .local,
            "a request needs a host: neither an authority nor a Host header was given"
        ),
        (.repeatedHostToSend, .local, "header Host was given more than once"),
        (
            .unknownLengthInHTTP10, .local,
            "HTTP/1.0 knows no chunks: the body's length must be given"
        ),
        (
            .trailerWithoutChunks(Excerpt("A")), .local,
            "trailer \"A\" cannot be sent: the body's length is known, and only chunks have trailers"
        ),
        (.forbiddenTrailerToSend(Excerpt("Host")), .local, "header \"Host\" may not stand in trailers"),
        (
            .bodyLengthMismatch(announced: 5, given: 3), .local,
            "the body was announced with 5 bytes, 3 were given"
        ),
    ]

    @Test(arguments: rows.indices) func descriptionsAndFaults(_ index: Int) {
        let row = Self.rows[index]
        #expect(row.error.description == row.text)
        #expect(row.error.fault == row.fault)
    }

    @Test func truncationsAreDescribed() {
        #expect(HTTPError.Truncation.insideHead(received: 3).description == "inside the head, after 3 bytes")
        #expect(
            HTTPError.Truncation.insideBody(received: 3, expected: 5).description
                == "after 3 of 5 body bytes")
        #expect(
            HTTPError.Truncation.insideBodyOfUnknownLength(received: 3).description
                == "inside a body of unknown length, after 3 bytes")
        #expect(
            HTTPError.Truncation.insideChunk(received: 3).description
                == "inside a chunked body, after 3 bytes")
        #expect(HTTPError.Truncation.insideTrailers.description == "inside the trailers")
    }

    @Test func limitsAreDescribed() {
        let limits: [(ParserLimits.Limit, String)] = [
            (.headBytes, "bytes of a head (headBytes)"), (.fieldCount, "header fields (fieldCount)"),
            (.lineBytes, "bytes of a header line (lineBytes)"),
            (.interimHeads, "interim responses (interimHeads)"),
            (.chunkExtensionBytes, "bytes of chunk extensions (chunkExtensionBytes)"),
            (.trailerBytes, "bytes of trailers (headBytes)"),
        ]
        for (limit, text) in limits { #expect(limit.description == text) }
    }

    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("a\r\n\tb", "a\\r\\n\\tb"), ("\0\u{1B}\u{7F}", "\\x00\\x1b\\x7f"),
        ("ü", "\\xc3\\xbc"),
    ])
    func excerptsAreEscaped(_ text: String, _ escaped: String) {
        let octets = Array(text.utf8)
        #expect(Excerpt(text).text == escaped)
        #expect(Excerpt(octets.span) == Excerpt(text))
        #expect(Excerpt(text).description == "\"\(escaped)\"")
    }

    @Test func excerptsAreShort() {
        let longest = String(repeating: "a", count: 48)
        let octets = Array((longest + "b").utf8)
        #expect(Excerpt(longest).text == longest)
        #expect(Excerpt(longest + "b").text == longest + "...")
        #expect(Excerpt(octets.span).text == longest + "...")
    }
}
