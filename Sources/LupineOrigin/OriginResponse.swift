// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The response of an endpoint, created and used on the loop.
package struct OriginResponse {
    /// Where the content comes from.
    package enum Body {
        /// No content.
        case none
        /// These octets.
        case bytes([UInt8])
        /// Produced as the client reads it; without a length it is sent chunked, one chunk per piece.
        case stream(length: Int64?, (_ piece: inout [UInt8], _ room: Int) -> Continuation)
    }

    /// What a producer returns after each piece.
    package enum Continuation {
        /// More is available now; the piece was not empty.
        case more
        /// More is available after a delay.
        case pause(Duration)
        /// More is available once the gate is open.
        case wait(Gate)
        /// This was the last piece.
        case end(trailers: Fields)
    }

    package var status: Status
    /// The reason phrase, if it is not the standard one.
    package var reason: String?
    package var fields = Fields()
    /// The content.
    package var body: Body
    /// Interim heads (1xx) sent before the response.
    package var interim: [ResponseHead] = []
    /// The delay before the response is sent.
    package var delay: Duration?
    /// The gate that the response waits for.
    package var gate: Gate?
    /// Called on the loop after the wait; its result replaces this response.
    package var choice: (@Sendable () throws(Refusal) -> EndpointChoice)?
    /// Whether the connection is closed after the response.
    package var closes = false

    /// A response without fields of its own.
    package init(_ status: Int = 200, body: Body = .none) {
        self.status = Status(status == 101 || (200...999).contains(status) ? status : 500)
        self.body = body
    }

    /// A response with content of a media type.
    package init(_ status: Int = 200, _ type: String, _ bytes: [UInt8]) throws(Refusal) {
        self.init(status, body: .bytes(bytes))
        try add(.contentType, type)
    }

    /// A JSON document.
    package init(_ status: Int = 200, json: JSON) throws(Refusal) {
        try self.init(status, "application/json", JSONWriter.document(json))
    }

    /// The response to an invalid web socket handshake. HTTP/2 omits its connection-specific fields.
    init(refusing error: WebSocketError) {
        let refusal = WebSocketAcceptance.refusal(error)
        self.init(Int(refusal.status.code))
        fields = refusal.fields
    }

    /// Waits until the gate is open, then does what `choose` returns: for a response that is not computed on the loop.
    package static func later(
        _ gate: Gate, _ choose: @escaping @Sendable () throws(Refusal) -> EndpointChoice
    ) -> OriginResponse {
        var response = OriginResponse()
        response.gate = gate
        response.choice = choose
        return response
    }

    /// Adds a field.
    package mutating func add(_ name: FieldName, _ value: String) throws(Refusal) {
        do throws(HTTPError) {
            try fields.append(name, value)
        } catch {
            throw .badRequest(error.description)
        }
    }

    /// Adds a field of any name.
    package mutating func add(_ name: String, _ value: String) throws(Refusal) {
        do throws(HTTPError) {
            try fields.append(try FieldName(name), value)
        } catch {
            throw .badRequest(error.description)
        }
    }
}

/// The reason why an endpoint refuses a request.
package struct Refusal: Error, Sendable {
    /// The status of the response.
    package let status: Int
    /// The reason, in plain words.
    package let message: String

    /// A refusal with a status of its own.
    package init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }

    /// 400
    package static func badRequest(_ message: String) -> Refusal { Refusal(400, message) }
}
