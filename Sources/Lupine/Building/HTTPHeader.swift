// SPDX-License-Identifier: MIT

internal import Foundation

/// A header field (RFC 9110 §5): a name and a value, stored and compared exactly as written.
///
/// Names and values are not validated. If a field cannot be sent, the request fails with an error that names the field.
public struct HTTPHeader: Equatable, Hashable, Sendable {
    /// The name, as written.
    public let name: String
    /// The value.
    public let value: String

    /// Creates a field.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension HTTPHeader: CustomStringConvertible {
    /// The name, a colon, a space, the value.
    public var description: String { "\(name): \(value)" }
}

extension HTTPHeader {
    /// `Accept` (RFC 9110 §12.5.1).
    public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }

    /// `Accept-Charset` (RFC 9110 §12.5.2).
    public static func acceptCharset(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Charset", value: value)
    }

    /// `Accept-Language` (RFC 9110 §12.5.4).
    public static func acceptLanguage(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Language", value: value)
    }

    /// `Accept-Encoding` (RFC 9110 §12.5.3).
    public static func acceptEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Encoding", value: value)
    }

    /// `Authorization` with a user name and a password: the Basic scheme (RFC 7617).
    public static func authorization(username: String, password: String) -> HTTPHeader {
        let credential = Data("\(username):\(password)".utf8).base64EncodedString()
        return authorization("Basic \(credential)")
    }

    /// `Authorization` with a token: the Bearer scheme (RFC 6750).
    public static func authorization(bearerToken: String) -> HTTPHeader {
        authorization("Bearer \(bearerToken)")
    }

    /// `Authorization` (RFC 9110 §11.6.2).
    public static func authorization(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Authorization", value: value)
    }

    /// `Content-Disposition` (RFC 6266).
    public static func contentDisposition(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Disposition", value: value)
    }

    /// `Content-Encoding` (RFC 9110 §8.4).
    public static func contentEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Encoding", value: value)
    }

    /// `Content-Type` (RFC 9110 §8.3).
    public static func contentType(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Type", value: value)
    }

    /// `User-Agent` (RFC 9110 §10.1.5).
    public static func userAgent(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "User-Agent", value: value)
    }

    /// `Sec-WebSocket-Protocol` (RFC 6455 §11.3.4).
    public static func websocketProtocol(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Sec-WebSocket-Protocol", value: value)
    }
}
