// SPDX-License-Identifier: MIT

public import LupineLoading

/// A type that can be converted to a `URLRequest`: a router's case, a value with parameters, a request itself. It is
/// converted when the request is performed and again for each retry, on the session's request queue.
public protocol URLRequestConvertible: Sendable {
    /// Returns the request. A thrown error fails the request: an `AFError` as it is, another error as
    /// `createURLRequestFailed`.
    func asURLRequest() throws -> URLRequest
}

extension URLRequestConvertible {
    /// The request; nil when it cannot be created.
    public var urlRequest: URLRequest? { try? asURLRequest() }
}

extension URLRequest: URLRequestConvertible {
    /// Returns the request itself.
    public func asURLRequest() throws -> URLRequest { self }
}

extension URLRequest {
    /// Creates a request for `url`; throws the error of its conversion.
    public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
        self.init(url: try url.asURL())
        httpMethod = method.rawValue
        if let headers { self.headers = headers }
    }
}
