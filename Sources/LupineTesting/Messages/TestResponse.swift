// SPDX-License-Identifier: MIT

public import Foundation

/// What a route of a `TestOrigin` or a stub answers: a status, header fields and content, or one of the ways in which servers
/// misbehave.
///
/// A value, made by the functions below and changed by those that return a copy:
/// `.json(users).header("ETag", "\"1\"").cut(after: 20)`.
public struct TestResponse: Sendable {
    /// A step of a streamed response.
    public enum Piece: Sendable {
        /// Octets, sent as one chunk.
        case data(Data)
        /// Text in UTF-8, sent as one chunk.
        case text(String)
        /// Nothing until the signal is open.
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

    /// How a connection ends that breaks.
    enum Break: Sendable { case closed, reset, stalled }

    /// What becomes of the response.
    enum Course: Sendable {
        /// It goes out as it stands here.
        case whole
        /// So many octets of the content go out, then that happens.
        case broken(after: Int, Break)
        /// Not even a head goes out.
        case unanswered(Break)
        /// Octets that are no response go out.
        case garbage(Data)
        /// A stubbed session reports this error; an origin resets the connection.
        case failed(any Error)
    }

    /// The status code, 101 or 200 to 999; any other goes out of an origin as 500.
    public var status: Int
    /// The header fields, beside those that frame the message.
    public var headers: TestHeaders
    /// The content, in pieces.
    var pieces: [Piece]
    /// Whether the pieces go out one by one, without a length before them.
    var isStreamed: Bool
    /// What the response waits for.
    var hold: TestSignal?
    var course = Course.whole

    init(_ status: Int, _ type: String?, _ pieces: [Piece], isStreamed: Bool = false) {
        self.status = status
        headers = type.map { ["Content-Type": $0] } ?? [:]
        self.pieces = pieces
        self.isStreamed = isStreamed
    }

    // MARK: responses

    /// A response without content.
    public static func status(_ status: Int, headers: TestHeaders = [:]) -> TestResponse {
        var response = TestResponse(status, nil, [])
        response.headers = headers
        return response
    }

    /// Text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> TestResponse {
        TestResponse(status, "text/plain; charset=utf-8", [.text(text)])
    }

    /// Octets of a media type.
    public static func data(
        _ data: Data, contentType: String = "application/octet-stream", status: Int = 200
    ) -> TestResponse {
        TestResponse(status, contentType, [.data(data)])
    }

    /// A value as JSON. A value that cannot be encoded is answered with status 500 and the encoder's error as text.
    public static func json(
        _ value: some Encodable, status: Int = 200, encoder: JSONEncoder = JSONEncoder()
    ) -> TestResponse {
        do {
            return data(try encoder.encode(value), contentType: "application/json", status: status)
        } catch {
            return text("the response cannot be encoded: \(error)", status: 500)
        }
    }

    /// A redirect to an address, absolute or relative to the request's.
    public static func redirect(to location: String, status: Int = 302) -> TestResponse {
        self.status(status, headers: ["Location": location])
    }

    /// Content that goes out piece by piece, each as one chunk.
    public static func stream(
        _ pieces: [Piece], contentType: String = "application/octet-stream", status: Int = 200
    ) -> TestResponse {
        TestResponse(status, contentType, pieces, isStreamed: true)
    }

    // MARK: misbehaviour

    /// The connection is closed in answer to the request.
    public static var closed: TestResponse { unanswered(.closed) }

    /// The connection is reset in answer to the request.
    public static var reset: TestResponse { unanswered(.reset) }

    /// The request is never answered, and the connection stays open.
    public static var stalled: TestResponse { unanswered(.stalled) }

    /// Octets that are no response, and the end of the connection.
    public static func garbage(_ octets: Data = Data("\u{7}garbage\r\n\r\n".utf8)) -> TestResponse {
        var response = status(200)
        response.course = .garbage(octets)
        return response
    }

    /// A stubbed session reports the error as that of the load. An origin cannot, and resets the connection.
    public static func failure(_ error: any Error) -> TestResponse {
        var response = status(200)
        response.course = .failed(error)
        return response
    }

    private static func unanswered(_ end: Break) -> TestResponse {
        var response = status(200)
        response.course = .unanswered(end)
        return response
    }

    // MARK: changes

    /// The response with one header field more.
    public func header(_ name: String, _ value: String) -> TestResponse {
        var response = self
        response.headers.add(name, value)
        return response
    }

    /// The response, which is held back until the signal is open: a slow server.
    public func held(until signal: TestSignal) -> TestResponse {
        var response = self
        response.hold = signal
        return response
    }

    /// The response, whose connection is closed after so many octets of its content.
    public func cut(after octets: Int) -> TestResponse { broken(after: octets, .closed) }

    /// The response, whose connection is reset after so many octets of its content.
    public func reset(after octets: Int) -> TestResponse { broken(after: octets, .reset) }

    /// The response, of whose content nothing comes any more after so many octets.
    public func stalled(after octets: Int) -> TestResponse { broken(after: octets, .stalled) }

    private func broken(after octets: Int, _ end: Break) -> TestResponse {
        var response = self
        response.course = .broken(after: max(0, octets), end)
        return response
    }

    // MARK: reading

    /// The pieces of which the first octets remain, up to the break; all of them without one.
    var sentPieces: [Piece] {
        guard case .broken(var left, _) = course else { return pieces }
        var sent: [Piece] = []
        for piece in pieces {
            guard let octets = piece.octets else {
                if left > 0 { sent.append(piece) }
                continue
            }
            if left == 0 { break }
            sent.append(.data(octets.prefix(left)))
            left -= min(left, octets.count)
        }
        return sent
    }
}
