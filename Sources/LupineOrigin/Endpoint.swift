// SPDX-License-Identifier: MIT

package import LupineHTTP

/// How a path is answered.
package enum Endpoint: Sendable {
    /// As soon as the head is there; the body, if there is one, is read and dropped.
    case immediate(@Sendable (OriginRequest) throws(Refusal) -> OriginResponse)
    /// With the whole body at hand, up to the configured limit.
    case collected(@Sendable (OriginRequest) throws(Refusal) -> OriginResponse)
    /// By something that takes the body as it comes.
    case streamed(@Sendable (OriginRequest) throws(Refusal) -> any BodySink)
    /// By a web socket, if that is what the client asks for.
    case webSocket(@Sendable (OriginRequest) throws(Refusal) -> WebSocketBehaviour)
    /// Not at all: the connection follows a script from here on.
    case script(ScriptPlan)
    /// Request by request, as soon as the head is there: with a response, or by following a script.
    case chosen(@Sendable (OriginRequest) throws(Refusal) -> EndpointChoice)
}

/// What is done about one request of a path that chooses.
package enum EndpointChoice {
    /// It is answered; its body is read and dropped.
    case respond(OriginResponse)
    /// The connection follows the script from behind the head on.
    case follow(Script)
    /// Its stream follows the script from behind the head on, and the connection's other streams go on: over HTTP/2.
    case perform(StreamScript)
}

/// Takes a request's body as it comes, and answers. On the loop.
package protocol BodySink: AnyObject {
    /// The next octets, which are lent for the call.
    func receive(_ bytes: Span<UInt8>) throws(Refusal)
    /// The body is over.
    func finish(trailers: Fields) throws(Refusal) -> OriginResponse
}

/// Keeps the whole body for an endpoint that wants it so.
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
