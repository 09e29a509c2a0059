// SPDX-License-Identifier: MIT

public import LupineHTTP2

/// What can go wrong with an exchange over HTTP/2 and not with one over HTTP/1.1.
///
/// A case that ends one stream leaves the connection to the others. The sentence in a case is the codec's, and names the rule
/// or the limit; it has nothing of what was sent in it but names of fields.
public enum HTTP2Failure: Error, Hashable, Sendable {
    /// The peer reset the request's stream.
    case reset(HTTP2ErrorCode)
    /// The peer did nothing about the request: it refused the stream, or was going away. Sending the request again to no
    /// avail came before.
    case refused
    /// The peer ended the connection with that code.
    case goAway(HTTP2ErrorCode)
    /// The peer said nothing for ten seconds, not even to the question whether it is there (PING): the connection was given up.
    case silent
    /// The peer sent a response that is malformed, or over a limit. The code is what it was told.
    case stream(HTTP2ErrorCode, reason: String)
    /// The peer broke the protocol, or a limit of the connection, which ended with that code.
    case connection(HTTP2ErrorCode, reason: String)
    /// The peer takes no request whose fields count for as many octets.
    case requestTooLarge(Int, allowed: Int)
    /// The peer has not said that it takes web sockets (SETTINGS_ENABLE_CONNECT_PROTOCOL, RFC 8441), and nothing but HTTP/2
    /// may be spoken.
    case noWebSockets

    init(_ error: HTTP2ConnectionError) { self = .connection(error.code, reason: error.description) }

    init(_ error: HTTP2StreamError) { self = .stream(error.code, reason: error.description) }
}

extension HTTP2Failure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .reset(let code): "the server ended the stream of the request (\(code))"
        case .refused: "the server refused the request's stream and did nothing about it"
        case .goAway(let code): "the server ended the connection (\(code))"
        case .silent: "the server said nothing for 10 s, not even to PING, and the connection was given up"
        case .stream(let code, let reason): "the response is not valid: \(reason) (\(code))"
        case .connection(let code, let reason): "the connection was ended: \(reason) (\(code))"
        case .requestTooLarge(let size, let allowed):
            "the request's fields count for \(size) octets, the server takes \(allowed)"
        case .noWebSockets:
            "the server takes no web sockets over HTTP/2 (SETTINGS_ENABLE_CONNECT_PROTOCOL is not 1)"
        }
    }
}
