// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The response of an endpoint. It is created and used on the loop.
package struct OriginResponse {
    /// The source of the content.
    package enum Body {
        /// No content.
        case none
        /// Content in memory.
        case bytes([UInt8])
        /// Content that a closure produces as fast as the client reads it. Each call appends the next piece to `piece`; `room` is
        /// the suggested length. Without a `length`, HTTP/1.1 sends each piece as one chunk.
        case stream(length: Int64?, (_ piece: inout [UInt8], _ room: Int) -> Continuation)
    }

    /// The way in which streamed content continues after a piece.
    package enum Continuation {
        /// The next piece is produced as soon as there is space for it. The piece of this call must not be empty.
        case more
        /// The next piece is produced after a delay.
        case pause(Duration)
        /// The next piece is produced when the gate is open.
        case wait(Gate)
        /// The piece was the last one.
        case end(trailers: Fields)
    }

    package var status: Status
    /// The reason phrase of HTTP/1.1; nil for the standard one.
    package var reason: String?
    package var fields = Fields()
    /// The content, which follows the head.
    package var body: Body
    /// Interim (1xx) responses that are sent before this one.
    package var interim: [ResponseHead] = []
    /// The delay before the response is sent; nil for none.
    package var delay: Duration?
    /// The gate for which the response waits; nil for none. If it is set, `delay` has no effect.
    package var gate: Gate?
    /// A closure that decides about the response when the wait for `delay` or `gate` has ended; nil to send this response. It is
    /// called on the loop. Its result replaces this response.
    package var choice: (@Sendable () throws(Refusal) -> EndpointChoice)?
    /// Whether the connection closes after the response.
    package var closesConnection = false

    /// Creates a response without fields. Its status is 500 if `status` is neither a final status nor 101.
    package init(_ status: Int = 200, body: Body = .none) {
        self.status = Status(status == 101 || (200...999).contains(status) ? status : 500)
        self.body = body
    }

    /// Creates a response with content of a media type.
    package init(_ status: Int = 200, _ type: String, _ bytes: [UInt8]) throws(Refusal) {
        self.init(status, body: .bytes(bytes))
        try add(.contentType, type)
    }

    /// Creates a response with a JSON document.
    package init(_ status: Int = 200, json: JSON) throws(Refusal) {
        try self.init(status, "application/json", JSONWriter.document(json))
    }

    /// Creates the response to an invalid WebSocket handshake. HTTP/2 does not send the connection-specific fields of the
    /// response.
    init(refusing error: WebSocketError) {
        let refusal = WebSocketServerHandshake.refusal(error)
        self.init(Int(refusal.status.code))
        fields = refusal.fields
    }

    /// Returns a placeholder for a response that another thread computes. When the gate is open, the result of `choose` replaces
    /// the placeholder.
    package static func later(
        _ gate: Gate, _ choose: @escaping @Sendable () throws(Refusal) -> EndpointChoice
    ) -> OriginResponse {
        var response = OriginResponse()
        response.gate = gate
        response.choice = choose
        return response
    }

    /// Adds a field. Refuses an illegal value.
    package mutating func add(_ name: FieldName, _ value: String) throws(Refusal) {
        do throws(HTTPError) {
            try fields.append(name, value)
        } catch {
            throw .badRequest(error.description)
        }
    }

    /// Adds a field whose name is any text. Refuses an illegal name or value.
    package mutating func add(_ name: String, _ value: String) throws(Refusal) {
        do throws(HTTPError) {
            try fields.append(try FieldName(name), value)
        } catch {
            throw .badRequest(error.description)
        }
    }
}

/// The error with which an endpoint refuses a request.
package struct Refusal: Error, Sendable {
    /// The status of the response.
    package let status: Int
    /// The reason, for the body of the response.
    package let message: String

    /// Creates a refusal with a status and a reason.
    package init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Returns a refusal with status 400.
    package static func badRequest(_ message: String) -> Refusal { Refusal(400, message) }
}
