// SPDX-License-Identifier: MIT

/// What `ClientCodec.next` found in the received octets: a part of a response, its end, or the need for more octets.
package enum ResponseEvent: Sendable {
    /// The codec has consumed all input and needs more.
    case needMore
    /// An interim (1xx) head; another head follows it.
    case interim(ResponseHead)
    /// The final head, the framing of its body, and whether the response allows the connection to be reused.
    case head(ResponseHead, framing: BodyFraming, allowsReuse: Bool)
    /// Content, as a range of the input.
    case content(Range<Int>)
    /// The response is complete. The codec has removed the trailers that `TrailerRule` forbids.
    case end(trailers: Fields)
    /// The connection has switched to another protocol: the following octets are not HTTP. The codec has consumed none of them.
    case handover
}
