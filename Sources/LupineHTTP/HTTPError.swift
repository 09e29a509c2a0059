// SPDX-License-Identifier: MIT

#if !os(Linux)
    #error("Lupine is a Linux library")
#endif

/// The errors of an HTTP/1.1 message: of received octets, or of a message to be sent.
///
/// The cases contain the position, the octet or the limit. Offsets count from the first octet of the head, of the trailer
/// section, or of the chunked body that contains the octet. `fault` says which side is at fault. After an error in received
/// octets a codec throws the same error again, and its connection has to be closed.
public enum HTTPError: Error, Hashable, Sendable {
    // MARK: The peer's head; offsets count from the first octet of the head, or of the trailer section for a trailer

    /// The first octets are not a status line or request line: HTTP/0.9, or another protocol.
    case notHTTP(octet: UInt8, offset: Int)
    /// The first octets are those of an HTTP/2 connection.
    case http2Preface
    /// The version in the start line is not HTTP/1.x.
    case unsupportedVersion(Excerpt)
    /// The start line has an octet that the grammar does not allow there.
    case malformedStartLine(octet: UInt8, offset: Int)
    /// A request target has none of the four forms.
    case malformedTarget(Excerpt)
    /// The status code is below 100.
    case invalidStatusCode(Int)
    /// The status line ends after the code, without the space, and `Leniency.missingReason` is not granted.
    case missingReason(offset: Int)
    /// A line feed without a carriage return ends a line, and `Leniency.bareLineFeed` is not granted.
    case bareLineFeed(offset: Int)
    /// A carriage return is not followed by a line feed.
    case bareCarriageReturn(offset: Int)
    /// A line begins with a blank, as in obsolete line folding, and `Leniency.obsoleteFolding` is not granted or there is no
    /// field to continue.
    case foldedLine(offset: Int)
    /// A field name is empty or has an octet that is not allowed in names.
    case invalidFieldName(octet: UInt8, offset: Int)
    /// There is white space between a field name and its colon.
    case whitespaceBeforeColon(offset: Int)
    /// A field value or reason phrase holds a control character.
    case invalidFieldValue(octet: UInt8, offset: Int)

    // MARK: The peer's framing; offsets count from the first octet after the head

    /// `Content-Length` is not a decimal number that fits in 63 bits.
    case invalidContentLength(Excerpt)
    /// Several `Content-Length` values differ; in a request, there is more than one.
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
    /// A chunk extension holds a control character.
    case malformedChunkExtension(octet: UInt8, offset: Int)
    /// A chunk's line or content is not followed by CRLF.
    case malformedChunkEnd(octet: UInt8, offset: Int)
    /// Octets arrived that belong to no message; the first of them is given.
    case unexpectedBytes(octet: UInt8)
    /// A 101 response arrived, but no upgrade was requested.
    case unexpectedUpgrade
    /// A limit was exceeded; the value is the limit.
    case limitExceeded(ParserLimits.Limit, allowed: Int)
    /// The peer closed the connection within a message.
    case truncated(Truncation)

    // MARK: The message to be sent

    /// A method is not a token.
    case invalidMethod(Excerpt)
    /// A request target has an octet that is not allowed.
    case invalidTarget(Excerpt)
    /// A host or port is not valid in `Host`.
    case invalidAuthority(Excerpt)
    /// A field name to be sent is not a token.
    case invalidNameToSend(Excerpt)
    /// A field value to be sent has a control character; `name` is the field.
    case invalidValueToSend(name: Excerpt, octet: UInt8)
    /// `Content-Length` or `Transfer-Encoding` was given as a field: the encoder writes the framing.
    case framingFieldToSend(Excerpt)
    /// A request was given neither an authority nor a `Host` field.
    case missingHostToSend
    /// `Host` was given as a field more than once.
    case repeatedHostToSend
    /// A body of unknown length was given for an HTTP/1.0 request, which has no chunked coding.
    case unknownLengthInHTTP10
    /// A trailer was given for a body of known length: only chunked bodies have trailers.
    case trailerWithoutChunks(Excerpt)
    /// A trailer was given that is not allowed in trailers (RFC 9110 §6.5.1).
    case forbiddenTrailerToSend(Excerpt)
    /// More or less content was given than was announced.
    case bodyLengthMismatch(announced: Int64, given: Int64)

    /// The position at which the peer stopped.
    public enum Truncation: Hashable, Sendable {
        /// Before the first octet of a head.
        case beforeHead
        /// In a head, of which `received` octets had arrived.
        case insideHead(received: Int)
        /// In a body of known length.
        case insideBody(received: Int64, expected: Int64)
        /// In a body over HTTP/2 whose length was not announced.
        case insideBodyOfUnknownLength(received: Int64)
        /// In a chunked body, of which `received` octets had arrived.
        case insideChunk(received: Int64)
        /// Between the last chunk and the end of the trailers.
        case insideTrailers
    }

    /// The side that is at fault.
    public enum Fault: Hashable, Sendable {
        /// The sending program.
        case local
        /// The peer.
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
