// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The way in which the origin answers requests for a path. The closures are called on the connection's loop, and must not block.
package enum Endpoint: Sendable {
    /// The closure answers as soon as the request's head has arrived. A body is read and dropped.
    case immediate(@Sendable (OriginRequest) throws(Refusal) -> OriginResponse)
    /// The closure answers when the whole body has arrived. A body longer than `maximumCollectedBytes` is refused.
    case collected(@Sendable (OriginRequest) throws(Refusal) -> OriginResponse)
    /// The closure returns a sink, which receives the body in pieces and then answers.
    case streamed(@Sendable (OriginRequest) throws(Refusal) -> any BodySink)
    /// The connection, or the stream of HTTP/2, becomes a web socket if the request is a valid WebSocket handshake.
    case webSocket(@Sendable (OriginRequest) throws(Refusal) -> WebSocketBehaviour)
    /// The connection follows a script after the request's head, instead of answering.
    case script(ScriptPlan)
    /// The closure decides between a response and a script as soon as the request's head has arrived.
    case chosen(@Sendable (OriginRequest) throws(Refusal) -> EndpointChoice)
}

/// The decision of a `chosen` endpoint about one request.
package enum EndpointChoice {
    /// The origin sends this response. The request's body is read and dropped.
    case respond(OriginResponse)
    /// The connection follows the script after the request's head.
    case follow(Script)
    /// The request's stream follows the script after the request's head. The other streams of the connection continue. HTTP/2
    /// only.
    case perform(StreamScript)
}

/// Receives a request's body in pieces, and returns the response at the end. The conversation calls it on the loop.
package protocol BodySink: AnyObject {
    /// Receives the next octets of the body. The span is valid during the call only.
    func receive(_ bytes: Span<UInt8>) throws(Refusal)
    /// Receives the end of the body, and returns the response.
    func finish(trailers: Fields) throws(Refusal) -> OriginResponse
}

/// Collects the whole body of a request in memory, for a `collected` endpoint.
final class CollectingSink: BodySink {
    private var request: OriginRequest
    private let limit: Int
    private let handler: @Sendable (OriginRequest) throws(Refusal) -> OriginResponse

    init(
        _ request: OriginRequest, limit: Int,
        _ handler: @escaping @Sendable (OriginRequest) throws(Refusal) -> OriginResponse
    ) {
        self.request = request
        self.limit = limit
        self.handler = handler
    }

    func receive(_ bytes: Span<UInt8>) throws(Refusal) {
        guard request.body.count + bytes.count <= limit else {
            throw Refusal(413, "this path takes bodies of at most \(limit) bytes")
        }
        request.body.append(bytes)
    }

    func finish(trailers: Fields) throws(Refusal) -> OriginResponse {
        request.trailers = trailers
        return try handler(request)
    }
}
