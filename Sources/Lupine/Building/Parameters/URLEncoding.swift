// SPDX-License-Identifier: MIT

import Foundation
public import LupineLoading

/// Writes parameters as `key=value` pairs: into the query of a GET, HEAD or DELETE request, as a form
/// (`application/x-www-form-urlencoded`) into the body of every other one.
///
/// Keys are sorted, nested dictionaries give `key[sub]`, arrays `key[]`. For `Encodable` values see
/// `URLEncodedFormParameterEncoder`, which writes some values differently. Can be used on any thread.
public struct URLEncoding: ParameterEncoding {
    /// The part of a request that the pairs are written into.
    public enum Destination: Sendable {
        /// The query for GET, HEAD and DELETE, the body for all other methods.
        case methodDependent
        /// The query, after the pairs that it already has.
        case queryString
        /// The body.
        case httpBody

        /// Whether parameters of a request with this method are written into the query.
        func encodesInQuery(_ method: String?) -> Bool {
            guard let method else { return false }
            return switch self {
            case .methodDependent: ["GET", "HEAD", "DELETE"].contains(method)
            case .queryString: true
            case .httpBody: false
            }
        }
    }

    /// Defines how the key of an array's element is formed.
    public enum ArrayEncoding: Sendable {
        /// `key[]`
        case brackets
        /// `key`
        case noBrackets
        /// `key[0]`, `key[1]`
        case indexInBrackets
        /// Uses the result of a closure, which receives the array's whole key and the element's index.
        case custom(@Sendable (_ key: String, _ index: Int) -> String)

        /// Returns the key of the element at `index` of the array under `key`.
        func encode(_ key: String, atIndex index: Int) -> String {
            switch self {
            case .brackets: "\(key)[]"
            case .noBrackets: key
            case .indexInBrackets: "\(key)[\(index)]"
            case .custom(let encoding): encoding(key, index)
            }
        }
    }

    /// Defines how a Boolean is written.
    public enum BoolEncoding: Sendable {
        /// `1` or `0`
        case numeric
        /// `true` or `false`
        case literal

        func encode(_ value: Bool) -> String {
            switch self {
            case .numeric: value ? "1" : "0"
            case .literal: value ? "true" : "false"
            }
        }
    }

    /// The encoding whose destination depends on the method.
    public static var `default`: URLEncoding { URLEncoding() }
    /// The encoding into the query.
    public static var queryString: URLEncoding { URLEncoding(destination: .queryString) }
    /// The encoding into the body.
    public static var httpBody: URLEncoding { URLEncoding(destination: .httpBody) }

    /// The part of a request that the pairs are written into.
    public let destination: Destination
    /// Defines how keys of arrays are formed.
    public let arrayEncoding: ArrayEncoding
    /// Defines how Booleans are written.
    public let boolEncoding: BoolEncoding

    /// Creates an encoding with these options.
    public init(
        destination: Destination = .methodDependent, arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric
    ) {
        self.destination = destination
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
    }

    /// Returns the request with its parameters. Throws `parameterEncodingFailed(reason: .missingURL)` when there is no URL
    /// for a query, and any error of `asURLRequest()`.
    public func encode(
        _ urlRequest: any URLRequestConvertible, with parameters: Parameters?
    ) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let parameters else { return request }
        if destination.encodesInQuery(request.httpMethod) {
            guard let url = request.url else {
                throw AFError.parameterEncodingFailed(reason: .missingURL)
            }
            guard !parameters.isEmpty,
                var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
            else { return request }
            let existingQuery = components.percentEncodedQuery.map { $0 + "&" } ?? ""
            components.setEncodedQuery(existingQuery + query(parameters))
            request.url = components.url
        } else {
            if request.value(forHTTPHeaderField: "Content-Type") == nil {
                request.setValue(
                    "application/x-www-form-urlencoded; charset=utf-8", forHTTPHeaderField: "Content-Type")
            }
            request.httpBody = Data(query(parameters).utf8)
        }
        return request
    }

    /// Returns the escaped pairs for a value under a key: one for a single value, several for a collection.
    public func queryComponents(fromKey key: String, value: Any) -> [(String, String)] {
        var pairs: [(String, String)] = []
        append(QueryValue(value), key: key, to: &pairs)
        return pairs
    }

    /// Returns `string` with all characters percent-encoded that are not in `CharacterSet.afURLQueryAllowed`.
    public func escape(_ string: String) -> String { PercentEscaping.query.escape(string) }

    /// Returns the pairs of all parameters, sorted by key and joined by `&`.
    private func query(_ parameters: Parameters) -> String {
        var pairs: [(String, String)] = []
        for (key, value) in parameters.sorted(by: { $0.key < $1.key }) {
            append(QueryValue(value), key: key, to: &pairs)
        }
        return pairs.map { "\($0)=\($1)" }.joined(separator: "&")
    }

    /// Appends the escaped pairs of a value under a key.
    private func append(_ value: QueryValue, key: String, to pairs: inout [(String, String)]) {
        switch value {
        case .object(let entries):
            for (subkey, entry) in entries.sorted(by: { $0.key < $1.key }) {
                append(QueryValue(entry), key: "\(key)[\(subkey)]", to: &pairs)
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                append(QueryValue(element), key: arrayEncoding.encode(key, atIndex: index), to: &pairs)
            }
        case .bool(let value): pairs.append((escape(key), boolEncoding.encode(value)))
        case .text(let text): pairs.append((escape(key), escape(text)))
        }
    }
}
