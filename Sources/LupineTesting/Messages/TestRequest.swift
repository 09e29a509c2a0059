// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineHTTP
internal import LupineLoading
internal import LupineOrigin

/// A request received by an origin or a stubbed session, with its whole body.
public struct TestRequest: Sendable, Hashable {
    /// The method, such as `GET`.
    public let method: String
    /// The absolute URL, including the query.
    public let url: URL
    /// The header fields, in order.
    public let headers: TestHeaders
    /// The body; empty when there was none.
    public let body: Data
    /// The decoded values of the names in braces in the route's or the pattern's path: `id` for `/users/{id}`.
    public internal(set) var parameters: [String: String] = [:]

    /// The path, percent-decoded.
    public var path: String { url.path(percentEncoded: false) }

    /// The query, percent-encoded as received; nil without one.
    public var query: String? { url.query(percentEncoded: true) }

    /// The items of the query, decoded, in order.
    public var queryItems: [URLQueryItem] {
        URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
    }

    /// Returns the value of the first query item with that name.
    public func query(_ name: String) -> String? { queryItems.first { $0.name == name }?.value }

    /// The body as text; invalid UTF-8 is replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Returns the body decoded from JSON. Throws the decoder's error.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: body)
    }

    init(method: String, url: URL, headers: TestHeaders, body: Data) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Creates the request that an origin with the URL `base` has received.
    init(_ request: OriginRequest, at base: URL) {
        // `OPTIONS *` is about the server as a whole, and has no path (RFC 9112 §3.2.4).
        let path = request.path == "*" ? "" : request.path
        let target = request.query.isEmpty ? path : path + "?" + request.query
        var headers = TestHeaders()
        for index in 0..<request.head.fields.count {
            headers.add(request.head.fields.name(at: index), request.head.fields.value(at: index))
        }
        self.init(
            method: request.head.method.rawValue,
            url: URL(string: target, relativeTo: base)?.absoluteURL ?? base,
            headers: headers, body: Data(request.body))
    }

    /// Creates the request that a session sends to `url`; `body` is its whole body.
    init(_ request: URLRequest, at url: URL, body: Data) {
        self.init(
            method: request.httpMethod ?? "GET", url: url,
            headers: TestHeaders(request.headerList.fields.map { TestHeaders.Field($0.name, $0.value) }),
            body: body)
    }
}
