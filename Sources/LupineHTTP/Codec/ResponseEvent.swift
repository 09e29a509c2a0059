// SPDX-License-Identifier: MIT

/// An event in the octets that a client's codec received.
package enum ResponseEvent: Sendable {
    /// All input was consumed and more is needed.
    case needMore
    /// An interim (1xx) head; the final one will follow.
    case interim(ResponseHead)
    /// The final head, the framing of its body, and whether its fields allow the connection to be reused.
    case head(ResponseHead, framing: BodyFraming, allowsReuse: Bool)
    /// Content, as a range of the input.
    case content(Range<Int>)
    /// The response is complete. The codec has dropped forbidden trailers.
    case end(trailers: Fields)
    /// The following octets are not HTTP; none of them was consumed.
    case handover
}
