// SPDX-License-Identifier: MIT

/// The HTTP version of a message.
public enum HTTPVersion: Hashable, Sendable, CustomStringConvertible {
    /// HTTP/1.0.
    case http10
    /// HTTP/1.1, and any higher minor version, which recipients process as 1.1 (RFC 9110 §2.5).
    case http11
    /// HTTP/2.
    case http2

    public var description: String {
        switch self {
        case .http10: "HTTP/1.0"
        case .http11: "HTTP/1.1"
        case .http2: "HTTP/2"
        }
    }
}

/// The head of a response.
public struct ResponseHead: Hashable, Sendable {
    /// The version in the head.
    public var version: HTTPVersion
    /// The status code.
    public var status: Status
    /// The header fields, in order.
    public var fields: Fields
    /// The octets of the reason phrase; nil stands for the standard phrase of the status.
    private var customReason: [UInt8]?

    /// Creates a head. A `reason` of nil stands for the standard reason phrase of the status.
    public init(
        version: HTTPVersion = .http11, status: Status, reason: String? = nil, fields: Fields = Fields()
    ) {
        self.version = version
        self.status = status
        self.fields = fields
        if let reason, reason != status.standardReason { customReason = Array(reason.utf8) }
    }

    /// A head with the octets of its reason phrase; nil stands for the standard phrase of the status.
    init(version: HTTPVersion, status: Status, customReason: [UInt8]?, fields: consuming Fields) {
        self.version = version
        self.status = status
        self.customReason = customReason
        self.fields = fields
    }

    /// The reason phrase as received. Only the status code has a meaning: a client should ignore the phrase (RFC 9112 §4).
    public var reason: String {
        guard let customReason else { return status.standardReason }
        return customReason.span.text(0..<customReason.count)
    }
}

/// The head of a request, which a client sends or a server has received.
public struct RequestHead: Hashable, Sendable {
    /// The request method.
    public var method: Method
    /// The request target.
    public var target: RequestTarget
    /// The value of `Host`. An encoder ignores it if `fields` contain `Host`. It is nil in a received head: `Host` is then one of
    /// `fields`.
    public var authority: Authority?
    /// The version in the head.
    public var version: HTTPVersion
    /// The header fields, in order.
    public var fields: Fields

    /// Creates a head. It is validated only when it is sent.
    public init(
        method: Method, target: RequestTarget, authority: Authority? = nil, version: HTTPVersion = .http11,
        fields: Fields = Fields()
    ) {
        self.method = method
        self.target = target
        self.authority = authority
        self.version = version
        self.fields = fields
    }
}
