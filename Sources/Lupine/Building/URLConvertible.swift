// SPDX-License-Identifier: MIT

public import Foundation

/// What can be made into a `URL`. Converted when the request is performed, on the session's request queue.
public protocol URLConvertible: Sendable {
    /// The URL. What it throws fails the request: an `AFError` as it is, another error as `createURLRequestFailed`.
    func asURL() throws -> URL
}

extension String: URLConvertible {
    /// The URL that the string spells; throws `AFError.invalidURL` when it spells none.
    public func asURL() throws -> URL {
        guard let url = URL(string: self) else { throw AFError.invalidURL(url: self) }
        return url
    }
}

extension URL: URLConvertible {
    /// Itself.
    public func asURL() throws -> URL { self }
}

extension URLComponents: URLConvertible {
    /// The URL of the components; throws `AFError.invalidURL` when they make none.
    public func asURL() throws -> URL {
        guard let url else { throw AFError.invalidURL(url: self) }
        return url
    }
}
