// SPDX-License-Identifier: MIT

package import LupineHTTP

/// How a path is answered.
package enum Endpoint: Sendable {
    /// Answered as soon as the head has been received; the body, if any, is read and discarded.
    case immediate(@Sendable (OriginRequest) throws(Refusal) -> OriginResponse)
    /// Answered when the whole body has been collected, up to the configured limit.
    case collected(@Sendable (OriginRequest) throws(Refusal) -> OriginResponse)
    /// Answered by a sink that receives the body as it arrives.
    case streamed(@Sendable (OriginRequest) throws(Refusal) -> any BodySink)
    /// Answered by a web socket, if the client requests one.
    case webSocket(@Sendable (OriginRequest) throws(Refusal) -> WebSocketBehaviour)
    /// Not answered: the connection follows a script from now on.
    case script(ScriptPlan)
    /// Decided for each request as soon as its head has been received: a response or a script.
    case chosen(@Sendable (OriginRequest) throws(Refusal) -> EndpointChoice)
}

/// How one request of a `chosen` endpoint is handled.
package enum EndpointChoice {
    /// Sends the response; the request's body is read and discarded.
    case respond(OriginResponse)
    /// The connection follows the script, starting after the request's head.
    case follow(Script)
    /// The stream follows the script, starting after the request's head; other streams continue. HTTP/2 only.
    case perform(StreamScript)
}

/// Receives a request's body as it arrives, and answers. On the loop.
package protocol BodySink: AnyObject {
    /// Receives the next octets, which are valid during the call.
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
