// SPDX-License-Identifier: MIT

/// A request method: a case-sensitive token (RFC 9110 §9.1).
public struct Method: Sendable, CustomStringConvertible {
    /// The name as it is sent, such as `GET`.
    public let rawValue: String
    /// The well-known method, which is compared first, because comparing enums is cheap.
    private let kind: Kind

    /// The well-known methods; `other` stands for all others.
    private enum Kind { case connect, delete, get, head, options, patch, post, put, trace, other }

    private init(_ wellKnown: String, _ kind: Kind) {
        rawValue = wellKnown
        self.kind = kind
    }

    /// A method whose name has been validated as a token.
    private init(validated name: String) {
        rawValue = name
        kind =
            switch name {
            case "CONNECT": .connect
            case "DELETE": .delete
            case "GET": .get
            case "HEAD": .head
            case "OPTIONS": .options
            case "PATCH": .patch
            case "POST": .post
            case "PUT": .put
            case "TRACE": .trace
            default: .other
            }
    }

    /// Creates a method with any name. Throws `HTTPError.invalidMethod` if it is not a token.
    public init(_ name: String) throws(HTTPError) {
        guard !name.isEmpty, name.utf8.allSatisfy({ OctetClass.contains($0, OctetClass.token) }) else {
            throw .invalidMethod(Excerpt(name))
        }
        self.init(validated: name)
    }

    /// A method whose name is in `range` of `bytes`, which the parser has validated as a token.
    init(validated bytes: Span<UInt8>, _ range: Range<Int>) {
        // The four most frequent methods need no new string.
        switch range.count {
        case 3 where bytes.contains("GET", at: range.lowerBound): self = .get
        case 3 where bytes.contains("PUT", at: range.lowerBound): self = .put
        case 4 where bytes.contains("HEAD", at: range.lowerBound): self = .head
        case 4 where bytes.contains("POST", at: range.lowerBound): self = .post
        default: self.init(validated: bytes.text(range))
        }
    }

    /// `CONNECT`
    public static let connect = Method("CONNECT", .connect)
    /// `DELETE`
    public static let delete = Method("DELETE", .delete)
    /// `GET`
    public static let get = Method("GET", .get)
    /// `HEAD`
    public static let head = Method("HEAD", .head)
    /// `OPTIONS`
    public static let options = Method("OPTIONS", .options)
    /// `PATCH`
    public static let patch = Method("PATCH", .patch)
    /// `POST`
    public static let post = Method("POST", .post)
    /// `PUT`
    public static let put = Method("PUT", .put)
    /// `TRACE`
    public static let trace = Method("TRACE", .trace)

    /// Whether sending the request twice has the same effect as sending it once (RFC 9110 §9.2.2).
    public var isIdempotent: Bool {
        switch kind {
        case .get, .head, .put, .delete, .options, .trace: true
        case .connect, .patch, .post, .other: false
        }
    }

    /// Whether requests with this method normally have content. One without content is then sent with `Content-Length: 0` (RFC
    /// 9110 §8.6).
    package var expectsContent: Bool {
        switch kind {
        case .post, .put, .patch: true
        case .connect, .delete, .get, .head, .options, .trace, .other: false
        }
    }

    public var description: String { rawValue }
}

/// Two methods are equal if their names are, compared case-sensitively.
extension Method: Hashable {
    public static func == (left: Method, right: Method) -> Bool {
        left.kind == right.kind && (left.kind != .other || left.rawValue == right.rawValue)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
