// SPDX-License-Identifier: MIT

/// Describes an `HTTPError` in plain words: the problem and its position.
extension HTTPError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notHTTP(let octet, let offset):
            "the first line is not HTTP/1.1: \(text(octet)) at offset \(offset) (HTTP/0.9, or another protocol on this port)"
        case .http2Preface:
            "the peer speaks HTTP/2 without having been asked to"
        case .unsupportedVersion(let version):
            "the peer speaks \(version), not HTTP/1.x"
        case .malformedStartLine(let octet, let offset):
            "the first line is malformed: \(text(octet)) at offset \(offset)"
        case .malformedTarget(let text):
            "the request asks for something that is no request target: \(text)"
        case .invalidStatusCode(let code):
            "\(code) is not a status code"
        case .missingReason(let offset):
            "the status line ends at offset \(offset), right behind its code"
        case .bareLineFeed(let offset):
            "a line ends in LF without CR at offset \(offset)"
        case .bareCarriageReturn(let offset):
            "a CR without LF at offset \(offset)"
        case .foldedLine(let offset):
            "a folded header line at offset \(offset)"
        case .invalidFieldName(let octet, let offset):
            "a header name holds \(text(octet)) at offset \(offset)"
        case .whitespaceBeforeColon(let offset):
            "white space between a header name and its colon at offset \(offset)"
        case .invalidFieldValue(let octet, let offset):
            "a header value holds \(text(octet)) at offset \(offset)"
        case .invalidContentLength(let value):
            "Content-Length is not a number that fits: \(value)"
        case .conflictingContentLengths(let one, let other):
            "more than one Content-Length: \(one) and \(other)"
        case .invalidTransferEncoding(let value):
            "Transfer-Encoding must end in a single \"chunked\": \(value)"
        case .ambiguousFraming:
            "both Content-Length and Transfer-Encoding in one request"
        case .transferEncodingInHTTP10:
            "Transfer-Encoding in an HTTP/1.0 request"
        case .invalidHost(let value):
            "a request needs one well-formed Host: \(value)"
        case .malformedChunkSize(let octet, let offset):
            "a chunk size holds \(text(octet)) at offset \(offset) of the body"
        case .chunkSizeOverflow(let offset):
            "a chunk size does not fit 63 bits at offset \(offset) of the body"
        case .malformedChunkExtension(let octet, let offset):
            "a chunk extension holds \(text(octet)) at offset \(offset) of the body"
        case .malformedChunkEnd(let octet, let offset):
            "CRLF was due after a chunk, \(text(octet)) came at offset \(offset) of the body"
        case .unexpectedBytes(let octet):
            "bytes came that belong to no response, the first is \(text(octet))"
        case .unexpectedUpgrade:
            "the peer switched protocols (101) without having been asked to"
        case .limitExceeded(let limit, let allowed):
            "\(limit) exceed the limit of \(allowed)"
        case .truncated(let place):
            "the peer closed the connection \(place)"
        case .invalidMethod(let text):
            "not a method: \(text)"
        case .invalidTarget(let text):
            "not a request target: \(text)"
        case .invalidAuthority(let text):
            "not a host and port: \(text)"
        case .invalidNameToSend(let text):
            "not a header name: \(text)"
        case .invalidValueToSend(let name, let octet):
            "the value of header \(name) holds \(text(octet)), which cannot be sent"
        case .framingFieldToSend(let name):
            "header \(name) is set from the body's length and cannot be given"
        case .missingHostToSend:
            "a request needs a host: neither an authority nor a Host header was given"
        case .repeatedHostToSend:
            "header Host was given more than once"
        case .unknownLengthInHTTP10:
            "HTTP/1.0 knows no chunks: the body's length must be given"
        case .trailerWithoutChunks(let name):
            "trailer \(name) cannot be sent: the body's length is known, and only chunks have trailers"
        case .forbiddenTrailerToSend(let name):
            "header \(name) may not stand in trailers"
        case .bodyLengthMismatch(let announced, let given):
            "the body was announced with \(announced) bytes, \(given) were given"
        }
    }

    /// Returns an octet as text that is safe in a terminal: a quoted character, or a name.
    private func text(_ octet: UInt8) -> String {
        switch octet {
        case 0x21...0x7E: "'\(Unicode.Scalar(octet))'"
        case Octet.space: "a space"
        case Octet.tab: "a tab"
        case Octet.carriageReturn: "CR"
        case Octet.lineFeed: "LF"
        case 0: "NUL"
        default: "byte 0x" + (octet < 16 ? "0" : "") + String(octet, radix: 16)
        }
    }
}

extension HTTPError.Truncation: CustomStringConvertible {
    public var description: String {
        switch self {
        case .beforeHead: "before the head of its answer"
        case .insideHead(let received): "inside the head, after \(received) bytes"
        case .insideBody(let received, let expected): "after \(received) of \(expected) body bytes"
        case .insideBodyOfUnknownLength(let received):
            "inside a body of unknown length, after \(received) bytes"
        case .insideChunk(let received): "inside a chunked body, after \(received) bytes"
        case .insideTrailers: "inside the trailers"
        }
    }
}
