// SPDX-License-Identifier: MIT

package import LupineHTTP

/// Why a message is malformed (RFC 9113 §8.1.1). Its stream ends with PROTOCOL_ERROR; the connection goes on.
package enum MessageError: Error, Hashable, Sendable {
    // MARK: names and values

    /// A name is empty or holds an octet that names may not hold (§8.2.1).
    case invalidName(Excerpt)
    /// A name holds a capital letter (§8.2.1).
    case capitalInName(Excerpt)
    /// A value holds a control character, or begins or ends in a blank (§8.2.1).
    case invalidValue(name: Excerpt)
    /// A field speaks of the connection (§8.2.2).
    case connectionField(Excerpt)
    /// TE says something else than `trailers` (§8.2.2).
    case invalidTE(Excerpt)

    // MARK: pseudo-fields

    /// A pseudo-field stands behind a field (§8.3).
    case misplacedPseudoField(Excerpt)
    /// A pseudo-field is unknown, or does not belong into such a message (§8.3).
    case unexpectedPseudoField(Excerpt)
    /// A pseudo-field stands in the message twice (§8.3).
    case repeatedPseudoField(Excerpt)
    /// A pseudo-field that such a message needs is missing (§8.3.1, §8.3.2, §8.5).
    case missingPseudoField(String)
    /// A pseudo-field has a value that it may not have (§8.3.1, §8.3.2).
    case invalidPseudoField(String, Excerpt)
    /// `:authority` and `host` name different hosts (§8.3.1).
    case conflictingHost(Excerpt, Excerpt)

    // MARK: the message as a whole

    /// `content-length` is not a number that fits, or stands there with different values.
    case invalidContentLength(Excerpt)
    /// More or less content came than `content-length` says (§8.1.1).
    case contentLengthMismatch(announced: Int64, received: Int64)
    /// Content came where there is none: in the response to HEAD, with 204 or 304.
    case unexpectedContent
    /// Content came before a final head, or behind the trailers.
    case misplacedContent
    /// An interim response ends the stream (§8.1).
    case interimEndsStream
    /// 101, which HTTP/2 does not know (§8.6).
    case switchingProtocols
    /// A header block behind the head that does not end the stream (§8.1).
    case trailersWithoutEnd
    /// A header block in a tunnel (§8.5), or behind the end.
    case misplacedHeaders
    /// The stream ended without a final head.
    case endWithoutHead
    /// There were more interim responses than are taken.
    case tooManyInterimHeads(allowed: Int)

    /// What the peer is told.
    package var code: HTTP2ErrorCode {
        switch self {
        case .tooManyInterimHeads: .enhanceYourCalm
        default: .protocolError
        }
    }
}
