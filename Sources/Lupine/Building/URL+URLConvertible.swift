// SPDX-License-Identifier: MIT

public import Foundation

extension String: URLConvertible {
    /// Returns the URL parsed from the string; throws `AFError.invalidURL` when it is not a URL.
    public func asURL() throws -> URL {
        guard let url = URL(string: self) else { throw AFError.invalidURL(url: self) }
        return url
    }
}

extension URL: URLConvertible {
    /// Returns the URL itself.
    public func asURL() throws -> URL { self }
}

extension URLComponents: URLConvertible {
    /// Returns the URL of the components; throws `AFError.invalidURL` when they do not form one.
    public func asURL() throws -> URL {
        guard let url else { throw AFError.invalidURL(url: self) }
        return url
    }
}
