// SPDX-License-Identifier: MIT

public import LupineLoading

/// A type that can be converted to a `URLRequest`: for example a router's case, a value with parameters, or a `URLRequest`
/// itself. The session converts it on its request queue, when it performs the request and again for each retry.
public protocol URLRequestConvertible: Sendable {
    /// Returns the request. A thrown error fails the request: an `AFError` unchanged, another error wrapped in
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
