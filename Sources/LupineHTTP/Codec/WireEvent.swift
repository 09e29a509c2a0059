// SPDX-License-Identifier: MIT

/// What a client's codec can say about the bytes it was given.
package enum WireEvent: Sendable {
    /// Nothing yet: all the input has been taken, more is needed.
    case needMore
    /// An interim (1xx) head; the final one is still to come.
    case interim(ResponseHead)
    /// The final head, what ends its body, and whether its fields let the connection live on.
    case head(ResponseHead, framing: BodyFraming, keepAlive: Bool)
    /// Content, at a range of the input.
    case content(Range<Int>)
    /// The response is over; trailers that may not be there have been dropped.
    case end(trailers: Fields)
    /// What follows is not HTTP any more; nothing of it was taken.
    case handover
}
