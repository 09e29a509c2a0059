// SPDX-License-Identifier: MIT

public import LupineLoading

/// What can be made into a `URLRequest`: a router's case, a value with parameters, a request itself. Converted when the
/// request is performed and again for each retry, on the session's request queue.
public protocol URLRequestConvertible: Sendable {
    /// The request. What it throws fails the request: an `AFError` as it is, another error as `createURLRequestFailed`.
    func asURLRequest() throws -> URLRequest
}

extension URLRequestConvertible {
    /// The request, nil when it cannot be made.
    public var urlRequest: URLRequest? { try? asURLRequest() }
}

extension URLRequest: URLRequestConvertible {
    /// Itself.
    public func asURLRequest() throws -> URLRequest { self }
}

extension URLRequest {
    /// A request for what `url` converts to; throws what the conversion throws.
    public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
        self.init(url: try url.asURL())
        httpMethod = method.rawValue
        if let headers { self.headers = headers }
    }
}
