// SPDX-License-Identifier: MIT

public import Foundation

/// The response of a route of a `TestOrigin` or of a stub: a status, header fields and content, or a simulated failure of a
/// server.
///
/// The functions below create responses, and methods return changed copies: `.json(users).header("ETag",
/// "\"1\"").cut(after: 20)`.
public struct TestResponse: Sendable {
    /// A part of a streamed response: content, or a pause.
    public enum Piece: Sendable {
        /// Octets, sent as one chunk.
        case data(Data)
        /// Text in UTF-8, sent as one chunk.
        case text(String)
        /// A pause until the signal is open.
        case wait(TestSignal)

        /// The octets; nil for a wait.
        var octets: Data? {
            switch self {
            case .data(let data): data
            case .text(let text): Data(text.utf8)
            case .wait: nil
            }
        }
    }

    /// How an interrupted connection ends: it is closed, it is reset, or nothing more is sent on it.
    enum ConnectionEnd: Sendable { case closed, reset, stalled }

    /// The way in which the response is sent.
    enum Delivery: Sendable {
        /// The response is sent completely.
        case whole
        /// The first octets of the content are sent, then the connection ends.
        case broken(after: Int, ConnectionEnd)
        /// Nothing is sent, not even a head.
        case unanswered(ConnectionEnd)
        /// Octets are sent that are not an HTTP response.
        case garbage(Data)
        /// A stubbed session reports the error; an origin resets the connection.
        case failed(any Error)
    }

    /// The status code, 101 or 200 to 999; an origin sends any other as 500.
    public var status: Int
    /// The header fields, except those that frame the message.
    public var headers: TestHeaders
    /// The content, in pieces.
    var pieces: [Piece]
    /// Whether the pieces are sent one by one, without a `Content-Length`.
    var isStreamed: Bool
    /// The signal that the response waits for.
    var awaitedSignal: TestSignal?
    var delivery = Delivery.whole

    /// Creates a response that is sent completely; `type` is its `Content-Type`, if any.
    init(_ status: Int, _ type: String?, _ pieces: [Piece], isStreamed: Bool = false) {
        self.status = status
        headers = type.map { ["Content-Type": $0] } ?? [:]
        self.pieces = pieces
        self.isStreamed = isStreamed
    }

    // MARK: responses

    /// Returns a response without content.
    public static func status(_ status: Int, headers: TestHeaders = [:]) -> TestResponse {
        var response = TestResponse(status, nil, [])
        response.headers = headers
        return response
    }

    /// Returns a response with text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> TestResponse {
        TestResponse(status, "text/plain; charset=utf-8", [.text(text)])
    }

    /// Returns a response with octets of a media type.
    public static func data(
        _ data: Data, contentType: String = "application/octet-stream", status: Int = 200
    ) -> TestResponse {
        TestResponse(status, contentType, [.data(data)])
    }

    /// Returns a response with a value as JSON. For a value that cannot be encoded, the response has status 500 and the
    /// encoder's error as text.
    public static func json(
        _ value: some Encodable, status: Int = 200, encoder: JSONEncoder = JSONEncoder()
    ) -> TestResponse {
        do {
            return data(try encoder.encode(value), contentType: "application/json", status: status)
        } catch {
            return text("the response cannot be encoded: \(error)", status: 500)
        }
    }

    /// Returns a redirect to a URL, absolute or relative to the request's.
    public static func redirect(to location: String, status: Int = 302) -> TestResponse {
        self.status(status, headers: ["Location": location])
    }

    /// Returns a response whose content is sent piece by piece, each as one chunk.
    public static func stream(
        _ pieces: [Piece], contentType: String = "application/octet-stream", status: Int = 200
    ) -> TestResponse {
        TestResponse(status, contentType, pieces, isStreamed: true)
    }

    // MARK: misbehaviour

    /// A response that closes the connection without an answer.
    public static var closed: TestResponse { unanswered(.closed) }

    /// A response that resets the connection without an answer.
    public static var reset: TestResponse { unanswered(.reset) }

    /// A response that is never sent, while the connection stays open.
    public static var stalled: TestResponse { unanswered(.stalled) }

    /// Returns a response of octets that are not HTTP, followed by the end of the connection.
    public static func garbage(_ octets: Data = Data("\u{7}garbage\r\n\r\n".utf8)) -> TestResponse {
        var response = status(200)
        response.delivery = .garbage(octets)
        return response
    }

    /// Returns a response that makes a load of a stubbed session fail with this error. An origin cannot send an error: it resets
    /// the connection.
    public static func failure(_ error: any Error) -> TestResponse {
        var response = status(200)
        response.delivery = .failed(error)
        return response
    }

    /// Returns a response that ends the connection in this way, without an answer.
    private static func unanswered(_ end: ConnectionEnd) -> TestResponse {
        var response = status(200)
        response.delivery = .unanswered(end)
        return response
    }

    // MARK: changes

    /// Returns the response with an additional header field.
    public func header(_ name: String, _ value: String) -> TestResponse {
        var response = self
        response.headers.add(name, value)
        return response
    }

    /// Returns the response, delayed until the signal is open, to simulate a slow server.
    public func held(until signal: TestSignal) -> TestResponse {
        var response = self
        response.awaitedSignal = signal
        return response
    }

    /// Returns the response, but closes the connection after this number of content octets.
    public func cut(after octets: Int) -> TestResponse { broken(after: octets, .closed) }

    /// Returns the response, but resets the connection after this number of content octets.
    public func reset(after octets: Int) -> TestResponse { broken(after: octets, .reset) }

    /// Returns the response, but stops sending after this number of content octets.
    public func stalled(after octets: Int) -> TestResponse { broken(after: octets, .stalled) }

    /// Returns the response, but ends the connection after this number of content octets.
    private func broken(after octets: Int, _ end: ConnectionEnd) -> TestResponse {
        var response = self
        response.delivery = .broken(after: max(0, octets), end)
        return response
    }

    // MARK: reading

    /// The pieces that are sent: all of them, or those before the octet at which the connection ends.
    var sentPieces: [Piece] {
        // `remaining` is the number of octets until the connection ends.
        guard case .broken(var remaining, _) = delivery else { return pieces }
        var sent: [Piece] = []
        for piece in pieces {
            guard let octets = piece.octets else {
                // A wait for a signal is part of what is sent, unless the connection has ended before it.
                if remaining > 0 { sent.append(piece) }
                continue
            }
            if remaining == 0 { break }
            sent.append(.data(octets.prefix(remaining)))
            remaining -= min(remaining, octets.count)
        }
        return sent
    }
}
