// SPDX-License-Identifier: MIT

/// A request method: a case-sensitive token (RFC 9110 §9.1).
public struct Method: Hashable, Sendable, CustomStringConvertible {
    /// The token as it stands on the wire.
    public let rawValue: String

    private init(wellKnown: String) { rawValue = wellKnown }

    /// A method of any name. Throws `HTTPError.invalidMethod` when it is not a token.
    public init(_ name: String) throws(HTTPError) {
        guard !name.isEmpty, name.utf8.allSatisfy({ OctetClass.contains($0, OctetClass.token) }) else {
            throw .invalidMethod(Excerpt(name))
        }
        rawValue = name
    }

    /// A method that the parser has already seen to be a token.
    init(checked bytes: Span<UInt8>, _ range: Range<Int>) {
        switch range.count {
        case 3 where bytes.equals("GET", at: range.lowerBound): self = .get
        case 3 where bytes.equals("PUT", at: range.lowerBound): self = .put
        case 4 where bytes.equals("HEAD", at: range.lowerBound): self = .head
        case 4 where bytes.equals("POST", at: range.lowerBound): self = .post
        default: rawValue = bytes.text(range)
        }
    }

    public static let connect = Method(wellKnown: "CONNECT")
    public static let delete = Method(wellKnown: "DELETE")
    public static let get = Method(wellKnown: "GET")
    public static let head = Method(wellKnown: "HEAD")
    public static let options = Method(wellKnown: "OPTIONS")
    public static let patch = Method(wellKnown: "PATCH")
    public static let post = Method(wellKnown: "POST")
    public static let put = Method(wellKnown: "PUT")
    public static let trace = Method(wellKnown: "TRACE")

    /// Whether sending the request twice means the same as sending it once (RFC 9110 §9.2.2).
    public var isIdempotent: Bool {
        switch rawValue {
        case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// Whether a request of this method says `Content-Length: 0` when it has no content (RFC 9110 §8.6).
    var expectsContent: Bool {
        switch rawValue {
        case "POST", "PUT", "PATCH": true
        default: false
        }
    }

    public var description: String { rawValue }
}
