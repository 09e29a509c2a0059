// SPDX-License-Identifier: MIT

/// Finds the endpoint for a method and a path.
///
/// The router finds the routes whose patterns have the first segment of the path, and tries them in order. The router is a value,
/// so that requests can read a copy while a test adds routes.
struct Router: Sendable {
    /// The result of a search for an endpoint.
    enum Match {
        /// The endpoint, with the segments that match the braces of its pattern; see `OriginRequest.parameters`.
        case endpoint(Endpoint, parameters: [String])
        /// The path is known, but accepts only these methods.
        case otherMethods([String])
        /// The path is not known.
        case notFound
    }

    private struct Route {
        /// The methods that the route accepts; nil for all methods.
        let methods: [String]?
        /// The segments of the route's pattern.
        let segments: [Segment]
        let endpoint: Endpoint
    }

    /// A segment of a pattern.
    private enum Segment {
        /// A segment that matches the same text only.
        case literal(String)
        /// A segment in braces, which matches any one segment.
        case any
        /// `{*}`: all segments that follow.
        case remaining
    }

    /// The routes, by the first segment of their patterns. The empty text stands for `/`, and for a first segment in braces.
    private var routes: [String: [Route]] = [:]
    /// The patterns, in the order in which they were added.
    private(set) var patterns: [String] = []

    /// Adds an endpoint. Nil `methods` match all methods; `GET` includes `HEAD`. With `precedesExisting`, the router tries the
    /// endpoint before the existing ones whose patterns have the same first segment.
    mutating func add(
        _ methods: [String]?, _ pattern: String, _ endpoint: Endpoint, precedesExisting: Bool = false
    ) {
        let segments = Self.split(pattern).map { text -> Segment in
            if text == "{*}" { return .remaining }
            if text.utf8.first == UInt8(ascii: "{") { return .any }
            return .literal(String(text))
        }
        let firstSegment = if case .literal(let text) = segments.first { text } else { "" }
        let route = Route(methods: methods, segments: segments, endpoint: endpoint)
        if precedesExisting {
            routes[firstSegment, default: []].insert(route, at: 0)
        } else {
            routes[firstSegment, default: []].append(route)
        }
        // A pattern that is added several times in a row, with different methods, is listed once.
        if patterns.last != pattern { patterns.append(pattern) }
    }

    /// Returns the endpoint for a method and a path. If only the method does not match, returns the methods that the path
    /// accepts.
    func match(_ method: String, _ path: String) -> Match {
        if path == "*" { return .endpoint(Self.serverOptions, parameters: []) }
        let segments = Self.split(path)
        let firstSegment = segments.first.map { PercentCoding.decoded($0) } ?? ""
        var acceptedMethods: [String] = []
        for route in routes[firstSegment] ?? [] {
            guard let parameters = Self.parameters(route.segments, segments) else { continue }
            guard let methods = route.methods else {
                return .endpoint(route.endpoint, parameters: parameters)
            }
            if methods.contains(method) || method == "HEAD" && methods.contains("GET") {
                return .endpoint(route.endpoint, parameters: parameters)
            }
            acceptedMethods += methods
        }
        return acceptedMethods.isEmpty ? .notFound : .otherMethods(acceptedMethods)
    }

    /// Returns the segments of a path or a pattern, without the slash at its beginning.
    private static func split(_ path: some StringProtocol) -> [Substring] {
        Substring(path).utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Substring($0) }
    }

    /// Returns the segments that match the pattern's braces; nil if the path does not match. The segments are decoded, except
    /// those that `{*}` matches, which are one element.
    private static func parameters(_ pattern: [Segment], _ path: [Substring]) -> [String]? {
        var parameters: [String] = []
        for (index, segment) in pattern.enumerated() {
            switch segment {
            case .remaining: return parameters + [path.dropFirst(index).joined(separator: "/")]
            case .literal(let text):
                guard index < path.count, PercentCoding.decoded(path[index]) == text else { return nil }
            case .any:
                guard index < path.count, !path[index].isEmpty else { return nil }
                parameters.append(PercentCoding.decoded(path[index]))
            }
        }
        return pattern.count == path.count ? parameters : nil
    }
}
