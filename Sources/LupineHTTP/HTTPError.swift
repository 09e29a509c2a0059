// SPDX-License-Identifier: MIT

#if !os(Linux)
    #error("Lupine is a Linux library")
#endif

/// The errors of an HTTP/1.1 message: of received octets, or of a message to be sent.
///
/// The cases contain the invalid octet, its offset, or the limit. Offsets count from the first octet of the head, of the trailer
/// section, or of the chunked body that contains the octet. `fault` says which side is at fault. After an error in received
/// octets the connection is unusable: the codec throws the same error again for any further input.
public enum HTTPError: Error, Hashable, Sendable {
    // MARK: Errors in the peer's head; offsets count from its first octet, or from that of the trailer section

    /// The first octets are not a status line or request line: HTTP/0.9, or another protocol.
    case notHTTP(octet: UInt8, offset: Int)
    /// The peer speaks HTTP/2: its first octets are those of an HTTP/2 connection.
    case http2Preface
    /// The version in the start line is not HTTP/1.x.
    case unsupportedVersion(Excerpt)
    /// The start line has an octet that the grammar does not allow there.
    case malformedStartLine(octet: UInt8, offset: Int)
    /// A request target has none of the four forms of RFC 9112 §3.2.
    case malformedTarget(Excerpt)
    /// The status code is below 100.
    case invalidStatusCode(Int)
    /// The status line ends after the code, without a space, and the parser's tolerances lack `Leniency.missingReason`.
    case missingReason(offset: Int)
    /// A line feed without a carriage return ends a line, and the parser's tolerances lack `Leniency.bareLineFeed`.
    case bareLineFeed(offset: Int)
    /// A carriage return is not followed by a line feed.
    case bareCarriageReturn(offset: Int)
    /// A line begins with a blank, as in obsolete line folding. The parser's tolerances lack `Leniency.obsoleteFolding`, or no
    /// field precedes the line.
    case foldedLine(offset: Int)
    /// A field name is empty or has an octet that is not allowed in names.
    case invalidFieldName(octet: UInt8, offset: Int)
    /// There is white space between a field name and its colon.
    case whitespaceBeforeColon(offset: Int)
    /// A field value or reason phrase contains a control character.
    case invalidFieldValue(octet: UInt8, offset: Int)

    // MARK: Errors in the peer's framing; offsets count from the first octet after the head

    /// `Content-Length` is not a decimal number that fits in 63 bits.
    case invalidContentLength(Excerpt)
    /// A response has several `Content-Length` values that differ, or a request has more than one.
    case conflictingContentLengths(Excerpt, Excerpt)
    /// `Transfer-Encoding` does not end in `chunked`, repeats it, or names an unsupported coding.
    case invalidTransferEncoding(Excerpt)
    /// A request has both `Content-Length` and `Transfer-Encoding`, as in request smuggling.
    case ambiguousFraming
    /// An HTTP/1.0 request has a `Transfer-Encoding`, which HTTP/1.0 does not define.
    case transferEncodingInHTTP10
    /// A request lacks `Host`, or has several, or a malformed one.
    case invalidHost(Excerpt)
    /// A chunk size has an octet that is not a hexadecimal digit, or no digits.
    case malformedChunkSize(octet: UInt8, offset: Int)
    /// A chunk size does not fit in 63 bits.
    case chunkSizeOverflow(offset: Int)
    /// A chunk extension contains a control character.
    case malformedChunkExtension(octet: UInt8, offset: Int)
    /// The size line or the content of a chunk is not followed by CRLF.
    case malformedChunkEnd(octet: UInt8, offset: Int)
    /// Octets arrived before a request was sent or after a complete response; `octet` is the first of them.
    case unexpectedBytes(octet: UInt8)
    /// A 101 response arrived, but no upgrade was requested.
    case unexpectedUpgrade
    /// The peer exceeded a limit; `allowed` is the limit's value.
    case limitExceeded(ParserLimits.Limit, allowed: Int)
    /// The peer closed the connection within a message.
    case truncated(Truncation)

    // MARK: Errors in the message to be sent

    /// A method is not a token.
    case invalidMethod(Excerpt)
    /// A request target has an octet that is not allowed.
    case invalidTarget(Excerpt)
    /// A host or port to be sent is not valid in `Host`.
    case invalidAuthority(Excerpt)
    /// A field name to be sent is not a token.
    case invalidNameToSend(Excerpt)
    /// A field value to be sent contains a control character; `name` is that of the field.
    case invalidValueToSend(name: Excerpt, octet: UInt8)
    /// The fields contain `Content-Length` or `Transfer-Encoding`, which the encoder itself writes.
    case framingFieldToSend(Excerpt)
    /// A request has neither an authority nor a `Host` field.
    case missingHostToSend
    /// The fields contain `Host` more than once.
    case repeatedHostToSend
    /// An HTTP/1.0 request has a body of unknown length, but HTTP/1.0 has no chunked coding.
    case unknownLengthInHTTP10
    /// A body of known length has a trailer, but only chunked bodies can have trailers.
    case trailerWithoutChunks(Excerpt)
    /// A trailer has a name that is not allowed in trailers (RFC 9110 §6.5.1).
    case forbiddenTrailerToSend(Excerpt)
    /// The program supplied more or less content than the head announces.
    case bodyLengthMismatch(announced: Int64, given: Int64)

    /// The point in a message at which the peer closed the connection.
    public enum Truncation: Hashable, Sendable {
        /// Before the first octet of a head.
        case beforeHead
        /// In a head, of which `received` octets had arrived.
        case insideHead(received: Int)
        /// In a body of known length, of which `received` octets had arrived.
        case insideBody(received: Int64, expected: Int64)
        /// In a body over HTTP/2 of unknown length, of which `received` octets had arrived.
        case insideBodyOfUnknownLength(received: Int64)
        /// In a chunked body, of which `received` octets of content had arrived.
        case insideChunk(received: Int64)
        /// Between the last chunk and the end of the trailers.
        case insideTrailers
    }

    /// A side of a connection, as the one that caused an error.
    public enum Fault: Hashable, Sendable {
        /// This program, which tried to send an invalid message.
        case local
        /// The peer, which sent invalid octets.
        case remote
    }

    /// The side that is at fault.
    public var fault: Fault {
        switch self {
        case .invalidMethod, .invalidTarget, .invalidAuthority, .invalidNameToSend, .invalidValueToSend,
            .framingFieldToSend, .missingHostToSend, .repeatedHostToSend, .unknownLengthInHTTP10,
            .trailerWithoutChunks, .forbiddenTrailerToSend, .bodyLengthMismatch:
            .local
        case .notHTTP, .http2Preface, .unsupportedVersion, .malformedStartLine, .malformedTarget,
            .invalidStatusCode, .missingReason, .bareLineFeed, .bareCarriageReturn, .foldedLine,
            .invalidFieldName, .whitespaceBeforeColon,
            .invalidFieldValue, .invalidContentLength, .conflictingContentLengths, .invalidTransferEncoding,
            .ambiguousFraming, .transferEncodingInHTTP10, .invalidHost, .malformedChunkSize,
            .chunkSizeOverflow,
            .malformedChunkExtension,
            .malformedChunkEnd, .unexpectedBytes, .unexpectedUpgrade, .limitExceeded, .truncated:
            .remote
        }
    }
}
