// SPDX-License-Identifier: MIT

package import LupineHTTP

/// What an endpoint answers. A value, made on the loop and used there.
package struct OriginResponse {
    /// Where the content comes from.
    package enum Body {
        /// There is none.
        case none
        /// It is here.
        case bytes([UInt8])
        /// It is made as the client takes it; without a length it goes in chunks, one per piece.
        case stream(length: Int64?, (_ piece: inout [UInt8], _ room: Int) -> Continuation)
    }

    /// What a stream says behind each piece.
    package enum Continuation {
        /// There is more, now; the piece was not empty.
        case more
        /// There is more after a while.
        case pause(Duration)
        /// There is more once the gate is open.
        case wait(Gate)
        /// This was the last one.
        case end(trailers: Fields)
    }

    package var status: Status
    /// The phrase where it is not the standard one.
    package var reason: String?
    package var fields = Fields()
    /// What follows the head.
    package var body: Body
    /// Interim heads that go before.
    package var interim: [ResponseHead] = []
    /// How long the response is held back.
    package var delay: Duration?
    /// What the response waits for.
    package var gate: Gate?
    /// Asked for what is done instead, when the wait is over; on the loop.
    package var choice: (@Sendable () throws(Refusal) -> EndpointChoice)?
    /// Whether the connection ends with it.
    package var closes = false

    /// A response without fields of its own.
    package init(_ status: Int = 200, body: Body = .none) {
        self.status = Status(status == 101 || (200...999).contains(status) ? status : 500)
        self.body = body
    }

    /// Text or octets of a media type.
    package init(_ status: Int = 200, _ type: String, _ bytes: [UInt8]) throws(Refusal) {
        self.init(status, body: .bytes(bytes))
        try add(.contentType, type)
    }

    /// A JSON document.
    package init(_ status: Int = 200, json: JSON) throws(Refusal) {
        try self.init(status, "application/json", JSONWriter.document(json))
    }

    /// What is answered to a web socket's handshake that is none. What of it is about a connection is left out over HTTP/2.
    init(refusing error: WebSocketError) {
        let refusal = WebSocketAcceptance.refusal(error)
        self.init(Int(refusal.status.code))
        fields = refusal.fields
    }

    /// Nothing until the gate is open, and then what `choose` says: for an answer that is not made on the loop.
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

/// Why an endpoint does not do what it was asked.
package struct Refusal: Error, Sendable {
    /// What the client is told.
    package let status: Int
    /// Why, in plain words.
    package let message: String

    /// A refusal with a status of its own.
    package init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }

    /// 400
    package static func badRequest(_ message: String) -> Refusal { Refusal(400, message) }
}
