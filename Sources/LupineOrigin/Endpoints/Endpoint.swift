// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The way in which the origin answers requests for a path.
package enum Endpoint: Sendable {
    /// Answered as soon as the head has arrived; a body is read and dropped.
    case immediate(@Sendable (OriginRequest) throws(Refusal) -> OriginResponse)
    /// Answered when the whole body has arrived. A body over the configured limit is refused.
    case collected(@Sendable (OriginRequest) throws(Refusal) -> OriginResponse)
    /// Answered by a sink that receives the body in pieces.
    case streamed(@Sendable (OriginRequest) throws(Refusal) -> any BodySink)
    /// Answered by a web socket, if the client requests one.
    case webSocket(@Sendable (OriginRequest) throws(Refusal) -> WebSocketBehaviour)
    /// Not answered: the connection follows a script after the request's head.
    case script(ScriptPlan)
    /// Decided for each request as soon as its head has arrived: a response, or a script.
    case chosen(@Sendable (OriginRequest) throws(Refusal) -> EndpointChoice)
}

/// The decision of a `chosen` endpoint about one request.
package enum EndpointChoice {
    /// The request is answered; its body is read and dropped.
    case respond(OriginResponse)
    /// The connection follows the script after the head.
    case follow(Script)
    /// The request's stream follows the script after the head; the other streams of the connection continue. HTTP/2 only.
    case perform(StreamScript)
}

/// Receives a request's body in pieces, and returns the response at the end. Called on the loop.
package protocol BodySink: AnyObject {
    /// Receives the next octets, which are valid during the call only.
    func receive(_ bytes: Span<UInt8>) throws(Refusal)
    /// Called at the end of the body; returns the response.
    func finish(trailers: Fields) throws(Refusal) -> OriginResponse
}

/// Collects the whole body for a `collected` endpoint.
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
