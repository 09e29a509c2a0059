// SPDX-License-Identifier: MIT

public import LupineHTTP2

/// Errors of an exchange that can occur over HTTP/2 but not over HTTP/1.1.
///
/// An error of one stream does not affect the other streams of the connection. The reason in a case comes from the codec and
/// names the violated rule or limit; of the transmitted data it contains only field names.
public enum HTTP2Failure: Error, Hashable, Sendable {
    /// The peer reset the request's stream.
    case reset(HTTP2ErrorCode)
    /// The peer did not process the request: it refused the stream, or sent GOAWAY. Sending the request again failed as well, or
    /// was not possible.
    case refused
    /// The peer ended the connection with this code.
    case goAway(HTTP2ErrorCode)
    /// The peer sent nothing for ten seconds, not even an answer to PING, and the connection was closed.
    case silent
    /// The peer sent a response that is malformed or over a limit; the stream was reset with this code.
    case stream(HTTP2ErrorCode, reason: String)
    /// The peer violated the protocol, or a limit of the connection; the connection was closed with this code.
    case connection(HTTP2ErrorCode, reason: String)
    /// The request's header list is larger than the peer accepts. Both sizes are in octets.
    case requestTooLarge(Int, allowed: Int)
    /// The peer has not enabled WebSockets over HTTP/2 (SETTINGS_ENABLE_CONNECT_PROTOCOL, RFC 8441), and only HTTP/2 is
    /// allowed.
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
