// SPDX-License-Identifier: MIT

package import LupineHTTP

/// What a connection machine can say about the octets it was given.
///
/// For each stream the events of its message come as in HTTP/1.1: interim heads, a head, content, an end with trailers.
/// A stream that is `reset`, `failed` or `refused` has no further events. The large cases that come seldom to a client are
/// indirect, since every event is as large as the largest.
package enum HTTP2Event: Hashable, Sendable {
    /// Nothing yet: all of the input was taken, and more is needed.
    case needMore
    /// To a server: a request begins.
    indirect case request(StreamID, ReceivedRequest)
    /// To a client: an interim response; the final one is still to come.
    case interim(StreamID, ResponseHead)
    /// To a client: the final head.
    case response(StreamID, ResponseHead)
    /// Content, at a range of the input. It counts for the windows until `consumed(_:on:)` is told of it.
    case content(StreamID, Range<Int>)
    /// The peer's message is over.
    case end(StreamID, trailers: Fields)
    /// The peer has reset the stream.
    case reset(StreamID, HTTP2ErrorCode)
    /// This end has reset the stream because of what the peer sent. A server may not have heard of it before.
    case failed(StreamID, HTTP2StreamError)
    /// The peer goes away and has not worked on the stream: its request may be sent again, whatever its method.
    case refused(StreamID)
    /// A window that was closed is open again: of a stream, or of the connection and so perhaps of all streams.
    case windowOpened(StreamID)
    /// The peer has set parameters; windows may have opened.
    indirect case settings(HTTP2Settings)
    /// The peer has acknowledged what this end has set.
    case settingsAcknowledged
    /// The answer to a PING of this end.
    case pong(UInt64)
    /// The peer takes no further streams; those of this end above `last` follow as `refused`.
    case goAway(last: StreamID, HTTP2ErrorCode, debug: [UInt8])
    /// To a server: the priority field value that the client has given to a stream (RFC 9218 §7.1). It comes in front of the
    /// request where the client has spoken of it before.
    case priority(StreamID, value: [UInt8])
}
