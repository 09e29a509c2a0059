// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The reason for which a message is malformed (RFC 9113 §8.1.1). Its stream is reset with `code`; the connection continues.
///
/// An `Excerpt` is the beginning of a name or value, for the description of the error.
package enum MessageError: Error, Hashable, Sendable {
    // MARK: Names and values

    /// A name is empty or contains an invalid octet (§8.2.1).
    case invalidName(Excerpt)
    /// A name contains an upper-case letter (§8.2.1).
    case capitalInName(Excerpt)
    /// A value contains a control character, or begins or ends with a blank (§8.2.1).
    case invalidValue(name: Excerpt)
    /// A field is connection-specific (§8.2.2).
    case connectionField(Excerpt)
    /// TE has a value other than `trailers` (§8.2.2).
    case invalidTE(Excerpt)

    // MARK: Pseudo-fields

    /// A pseudo-field follows a regular field (§8.3).
    case misplacedPseudoField(Excerpt)
    /// A pseudo-field is unknown, or is not allowed in this kind of message (§8.3).
    case unexpectedPseudoField(Excerpt)
    /// A pseudo-field occurs twice (§8.3).
    case repeatedPseudoField(Excerpt)
    /// A mandatory pseudo-field is missing (§8.3.1, §8.3.2, §8.5).
    case missingPseudoField(String)
    /// A pseudo-field, or `host`, has an invalid value (§8.3.1, §8.3.2).
    case invalidPseudoField(String, Excerpt)
    /// `:authority`, the first value, and `host`, the second, name different hosts (§8.3.1).
    case conflictingHost(Excerpt, Excerpt)

    // MARK: The message as a whole

    /// `content-length` is not a number, is too large, or has different values.
    case invalidContentLength(Excerpt)
    /// The length of the content differs from `content-length` (§8.1.1).
    case contentLengthMismatch(announced: Int64, received: Int64)
    /// Content came in a response that cannot have any: in reply to HEAD, or with the status 204 or 304.
    case unexpectedContent
    /// Content came before the final head, or after the trailers.
    case misplacedContent
    /// An interim response ends the stream (§8.1).
    case interimEndsStream
    /// The status is 101, which HTTP/2 does not support (§8.6).
    case switchingProtocols
    /// A header block after the head does not end the stream (§8.1).
    case trailersWithoutEnd
    /// A header block came in a tunnel (§8.5), or after the end of the message.
    case misplacedHeaders
    /// The stream ended without a final head.
    case endWithoutHead
    /// There were more interim responses than the limit allows.
    case tooManyInterimHeads(allowed: Int)

    /// The error code that is sent to the peer.
    package var code: HTTP2ErrorCode {
        switch self {
        case .tooManyInterimHeads: .enhanceYourCalm
        default: .protocolError
        }
    }
}
