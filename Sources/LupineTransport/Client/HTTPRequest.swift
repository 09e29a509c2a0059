// SPDX-License-Identifier: MIT

public import LupineHTTP
public import LupineTLS

/// A request that an `HTTPClient` is to send.
public struct HTTPRequest: Sendable {
    /// What is done to the resource.
    public var method: Method
    /// The resource.
    public var url: TransportURL
    /// Fields in the order they are sent; `Host` and framing are added.
    public var fields: Fields
    /// What is sent as content.
    public var body: Body
    /// Whom an https server has to satisfy for this request, instead of the client's own evaluator. A connection that was
    /// trusted by another evaluator is never used for it.
    public var trust: TrustEvaluator?

    /// A request for a URL that has been read.
    public init(
        method: Method = .get, url: TransportURL, fields: Fields = Fields(), body: Body = .none,
        trust: TrustEvaluator? = nil
    ) {
        self.trust = trust
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }

    /// A request for a URL as text. Throws `TransportError.url` when it is none that can be sent to.
    public init(
        method: Method = .get, url: String, fields: Fields = Fields(), body: Body = .none,
        trust: TrustEvaluator? = nil
    ) throws(TransportError) {
        do throws(TransportURLError) {
            self.init(method: method, url: try TransportURL(url), fields: fields, body: body, trust: trust)
        } catch { throw .url(error) }
    }

    /// Content to send.
    public enum Body: Sendable {
        /// No content.
        case none
        /// These bytes.
        case bytes([UInt8])
        /// The file at a path, from its start to its end.
        case file(path: String)
        /// What a closure supplies, piece by piece, until it returns nil. It is asked again only when the piece before
        /// has been sent. Without a length the content goes in chunks.
        case stream(length: Int64?, next: @Sendable () async throws -> [UInt8]?)

        /// A text, in UTF-8.
        public static func text(_ text: String) -> Body { .bytes(Array(text.utf8)) }
    }
}
