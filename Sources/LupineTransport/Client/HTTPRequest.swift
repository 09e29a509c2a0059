// SPDX-License-Identifier: MIT

public import LupineHTTP
public import LupineTLS

/// A request to be sent by an `HTTPClient`.
public struct HTTPRequest: Sendable {
    /// The request method.
    public var method: Method
    /// The URL of the resource.
    public var url: TransportURL
    /// The fields in the order in which they are sent; the client adds `Host` and the framing fields.
    public var fields: Fields
    /// The content.
    public var body: Body
    /// The evaluator that an https server must satisfy for this request, instead of the client's evaluator. The request never
    /// uses a connection that another evaluator has accepted.
    public var trust: TrustEvaluator?

    /// Creates a request for a parsed URL.
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

    /// Creates a request for a URL given as text. Throws `TransportError.url` if the text is not a URL that can be requested.
    public init(
        method: Method = .get, url: String, fields: Fields = Fields(), body: Body = .none,
        trust: TrustEvaluator? = nil
    ) throws(TransportError) {
        do throws(TransportURLError) {
            self.init(method: method, url: try TransportURL(url), fields: fields, body: body, trust: trust)
        } catch { throw .url(error) }
    }

    /// The content of a request.
    public enum Body: Sendable {
        /// No content.
        case none
        /// These bytes.
        case bytes([UInt8])
        /// The file at a path, from its start to its end. It is opened when the request is sent, which fails with
        /// `TransportError.file` if it cannot be read.
        case file(path: String)
        /// Content that a closure supplies piece by piece, until it returns nil. The closure is called again only when the
        /// previous piece has been sent. If the length is nil, the content is sent with the chunked transfer coding. The content
        /// cannot be sent a second time: a redirect that keeps the content is returned as the response.
        case stream(length: Int64?, next: @Sendable () async throws -> [UInt8]?)

        /// Returns content of UTF-8 text.
        public static func text(_ text: String) -> Body { .bytes(Array(text.utf8)) }
    }
}
