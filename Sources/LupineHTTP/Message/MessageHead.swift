// SPDX-License-Identifier: MIT

/// The version of HTTP that a message was written in.
public enum HTTPVersion: Hashable, Sendable, CustomStringConvertible {
    /// HTTP/1.0.
    case http10
    /// HTTP/1.1, and any higher minor version, which is to be read as 1.1 (RFC 9110 §2.5).
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
    /// The version that the head names.
    public var version: HTTPVersion
    /// What became of the request.
    public var status: Status
    /// The header fields, in the order in which they stand.
    public var fields: Fields
    /// The phrase where it is not the standard one.
    private var ownReason: [UInt8]?

    /// A head as a server makes one; nil stands for the status' standard reason.
    public init(
        version: HTTPVersion = .http11, status: Status, reason: String? = nil, fields: Fields = Fields()
    ) {
        self.version = version
        self.status = status
        self.fields = fields
        if let reason, reason != status.standardReason { ownReason = Array(reason.utf8) }
    }

    init(version: HTTPVersion, status: Status, ownReason: [UInt8]?, fields: consuming Fields) {
        self.version = version
        self.status = status
        self.ownReason = ownReason
        self.fields = fields
    }

    /// The reason phrase as it came; it means nothing (RFC 9112 §4).
    public var reason: String {
        guard let ownReason else { return status.standardReason }
        return ownReason.span.text(0..<ownReason.count)
    }
}

/// The head of a request: what a client sends, or what a server has parsed.
public struct RequestHead: Hashable, Sendable {
    /// What is asked for.
    public var method: Method
    /// What it is asked of.
    public var target: RequestTarget
    /// What goes into `Host`, unless `fields` has one; nil on the parsing side, where `fields` tells.
    public var authority: Authority?
    /// The version that the head names.
    public var version: HTTPVersion
    /// The header fields, in the order in which they stand.
    public var fields: Fields

    /// A head as a client makes one; what cannot be sent is found when it is encoded.
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
