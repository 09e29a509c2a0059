// SPDX-License-Identifier: MIT

#if !os(Linux)
    #error("Lupine is a Linux library")
#endif

/// Everything that can be wrong with an HTTP/1.1 message: said of the peer's bytes, or of what we were asked to send.
///
/// Cases carry evidence: where, which octet, which limit. Offsets count from the first octet of the head, of the
/// trailer section, or of a chunked body, whichever the octet stands in; the cases say which. `fault` tells the two sides apart. A codec that has thrown stays broken: its connection is to be closed.
public enum HTTPError: Error, Hashable, Sendable {
    // MARK: the peer's head; offsets from its first octet, or from that of the trailer section for a field of it

    /// The first octets are no status line or request line: HTTP/0.9, or no HTTP at all.
    case notHTTP(octet: UInt8, offset: Int)
    /// The first octets are those of an HTTP/2 connection.
    case http2Preface
    /// The start line names a version that is not HTTP/1.x.
    case unsupportedVersion(Excerpt)
    /// The start line has an octet where the grammar has another one.
    case malformedStartLine(octet: UInt8, offset: Int)
    /// A request's target has none of the four forms.
    case malformedTarget(Excerpt)
    /// The status code is below 100.
    case invalidStatusCode(Int)
    /// The status line ends behind the code, without the space, and `Leniency.missingReason` is not granted.
    case missingReason(offset: Int)
    /// A line feed without a carriage return ends a line, and `Leniency.bareLineFeed` is not granted.
    case bareLineFeed(offset: Int)
    /// A carriage return is not followed by a line feed.
    case bareCarriageReturn(offset: Int)
    /// A line begins with a blank, as folded values did, and `Leniency.obsoleteFolding` is not granted or there is
    /// no field to continue.
    case foldedLine(offset: Int)
    /// A field name is empty or holds an octet that names may not hold.
    case invalidFieldName(octet: UInt8, offset: Int)
    /// There is white space between a field name and its colon.
    case whitespaceBeforeColon(offset: Int)
    /// A field value or reason phrase holds a control character.
    case invalidFieldValue(octet: UInt8, offset: Int)

    // MARK: the peer's framing; offsets from the first octet behind the head

    /// `Content-Length` is not a decimal number that fits.
    case invalidContentLength(Excerpt)
    /// Several `Content-Length` values differ; in a request, there is more than one.
    case conflictingContentLengths(Excerpt, Excerpt)
    /// `Transfer-Encoding` does not end in `chunked`, repeats it, or names a coding that nobody can undo.
    case invalidTransferEncoding(Excerpt)
    /// A request has both `Content-Length` and `Transfer-Encoding`: the classic smuggling shape.
    case ambiguousFraming
    /// A request in HTTP/1.0, which knows no transfer codings, has a `Transfer-Encoding`.
    case transferEncodingInHTTP10
    /// A request lacks `Host`, or has several, or a malformed one.
    case invalidHost(Excerpt)
    /// A chunk size has an octet that is no hexadecimal digit, or none at all.
    case malformedChunkSize(octet: UInt8, offset: Int)
    /// A chunk size does not fit.
    case chunkSizeOverflow(offset: Int)
    /// A chunk extension holds a control character.
    case malformedChunkExtension(octet: UInt8, offset: Int)
    /// A chunk's line or content is not followed by CRLF.
    case malformedChunkEnd(octet: UInt8, offset: Int)
    /// Octets came that belong to no message; the first of them is given.
    case unexpectedBytes(octet: UInt8)
    /// 101 came though no upgrade was asked for.
    case unexpectedUpgrade
    /// A limit was exceeded; the value is what it allows.
    case limitExceeded(ParserLimits.Limit, allowed: Int)
    /// The peer closed the connection in mid-message.
    case truncated(Truncation)

    // MARK: our side

    /// A method is not a token.
    case invalidMethod(Excerpt)
    /// A request target holds an octet that may not stand there.
    case invalidTarget(Excerpt)
    /// A host or port cannot stand in `Host`.
    case invalidAuthority(Excerpt)
    /// A field name to be sent is not a token.
    case invalidNameToSend(Excerpt)
    /// A field value to be sent holds a control character; `name` says which field.
    case invalidValueToSend(name: Excerpt, octet: UInt8)
    /// `Content-Length` or `Transfer-Encoding` was given as a field: framing is the encoder's own.
    case framingFieldToSend(Excerpt)
    /// A request was given neither an authority nor a `Host` field.
    case missingHostToSend
    /// `Host` was given as a field more than once.
    case repeatedHostToSend
    /// A body of unknown length was given to a request in HTTP/1.0, which knows no chunks.
    case unknownLengthInHTTP10
    /// A trailer was given to a body of known length: only chunks have trailers.
    case trailerWithoutChunks(Excerpt)
    /// A field was given as a trailer that may not stand there (RFC 9110 §6.5.1).
    case forbiddenTrailerToSend(Excerpt)
    /// More or less content was given than was announced.
    case bodyLengthMismatch(announced: Int64, given: Int64)

    /// Where the peer stopped.
    public enum Truncation: Hashable, Sendable {
        /// Before the first octet of a head.
        case beforeHead
        /// In a head, of which so many octets had come.
        case insideHead(received: Int)
        /// In a body of known length.
        case insideBody(received: Int64, expected: Int64)
        /// In a body over HTTP/2 whose length was not announced.
        case insideBodyOfUnknownLength(received: Int64)
        /// In a chunked body, of which so many octets had come.
        case insideChunk(received: Int64)
        /// Between the last chunk and the end of the trailers.
        case insideTrailers
    }

    /// Whose mistake it is.
    public enum Fault: Hashable, Sendable {
        /// The program's that sends.
        case local
        /// The peer's.
        case remote
    }

    /// Whose mistake it is.
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
