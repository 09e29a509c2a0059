// SPDX-License-Identifier: MIT

package import LupineHTTP

/// An event that a connection machine returns for its input.
///
/// The events of each stream come in the order of HTTP/1.1: interim heads, a head, content, an end with trailers.
/// After `reset`, `failed` or `refused`, a stream has no further events. Large cases that are rare on a client are indirect,
/// since every event takes the space of the largest case.
package enum HTTP2Event: Hashable, Sendable {
    /// All of the input was consumed, and the next event needs more.
    case needMore
    /// On a server: a request begins.
    indirect case request(StreamID, ReceivedRequest)
    /// On a client: an interim response; the final one is still to come.
    case interim(StreamID, ResponseHead)
    /// On a client: the head of the final response.
    case response(StreamID, ResponseHead)
    /// Content, as a range of the input. It occupies the receive windows until the owner calls `consumed(_:on:)`.
    case content(StreamID, Range<Int>)
    /// The peer's message ended.
    case end(StreamID, trailers: Fields)
    /// The peer has reset the stream.
    case reset(StreamID, HTTP2ErrorCode)
    /// This endpoint has reset the stream because of an error of the peer. On a server, it may be the stream's first event.
    case failed(StreamID, HTTP2StreamError)
    /// The peer sent GOAWAY and has not processed the stream: its request may be sent again, whatever its method.
    case refused(StreamID)
    /// An exhausted send window has room again: that of a stream, or that of the connection, which all streams share.
    case windowOpened(StreamID)
    /// The peer has changed its settings; send windows may have grown.
    indirect case settings(HTTP2Settings)
    /// The peer has acknowledged this endpoint's settings.
    case settingsAcknowledged
    /// The acknowledgement of a PING of this endpoint.
    case pong(UInt64)
    /// The peer accepts no further streams. On a client, a `refused` event follows for each open stream above `last`.
    case goAway(last: StreamID, HTTP2ErrorCode, debug: [UInt8])
    /// On a server: the priority field value of a PRIORITY_UPDATE for a stream (RFC 9218 §7.1). If the client sent it before
    /// the request, the event precedes that of the request.
    case priority(StreamID, value: [UInt8])
}
