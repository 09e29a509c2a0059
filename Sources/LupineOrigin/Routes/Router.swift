// SPDX-License-Identifier: MIT

/// Finds the endpoint for a method and a path.
///
/// Patterns are looked up by their first segment, then tried in order. The router is a value, so that requests can read a copy
/// while routes are added.
struct Router: Sendable {
    /// The result of a look-up.
    enum Match {
        case endpoint(Endpoint, parameters: [String])
        /// The path is known, but accepts only these methods.
        case otherMethods([String])
        case nothing
    }

    private struct Route {
        let methods: [String]?
        let segments: [Segment]
        let endpoint: Endpoint
    }

    private enum Segment {
        case literal(String)
        /// A segment in braces, which matches any one segment.
        case any
        /// `{*}`: all segments that follow.
        case remaining
    }

    private var routes: [String: [Route]] = [:]
    /// The patterns, in the order in which they were added.
    private(set) var patterns: [String] = []

    /// Adds an endpoint. Nil `methods` match all methods; `GET` includes `HEAD`. With `precedes`, the endpoint is tried before
    /// existing ones whose patterns have the same first segment.
    mutating func add(
        _ methods: [String]?, _ pattern: String, _ endpoint: Endpoint, precedes: Bool = false
    ) {
        let segments = Self.split(pattern).map { text -> Segment in
            if text == "{*}" { return .remaining }
            if text.utf8.first == UInt8(ascii: "{") { return .any }
            return .literal(String(text))
        }
        let key = if case .literal(let text) = segments.first { text } else { "" }
        let route = Route(methods: methods, segments: segments, endpoint: endpoint)
        if precedes {
            routes[key, default: []].insert(route, at: 0)
        } else {
            routes[key, default: []].append(route)
        }
        if patterns.last != pattern { patterns.append(pattern) }
    }

    /// Returns the endpoint for a method and a path; if only the method does not match, the methods that the path accepts.
    func match(_ method: String, _ path: String) -> Match {
        if path == "*" { return .endpoint(Self.serverOptions, parameters: []) }
        let segments = Self.split(path)
        let key = segments.first.map { PercentCoding.decoded($0) } ?? ""
        var acceptedMethods: [String] = []
        for route in routes[key] ?? [] {
            guard let parameters = Self.parameters(route.segments, segments) else { continue }
            guard let methods = route.methods else {
                return .endpoint(route.endpoint, parameters: parameters)
            }
            if methods.contains(method) || method == "HEAD" && methods.contains("GET") {
                return .endpoint(route.endpoint, parameters: parameters)
            }
            acceptedMethods += methods
        }
        return acceptedMethods.isEmpty ? .nothing : .otherMethods(acceptedMethods)
    }

    private static func split(_ path: some StringProtocol) -> [Substring] {
        Substring(path).utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Substring($0) }
    }

    /// Returns the decoded segments that match the pattern's braces; nil if the path does not match.
    private static func parameters(_ pattern: [Segment], _ path: [Substring]) -> [String]? {
        var found: [String] = []
        for (index, segment) in pattern.enumerated() {
            switch segment {
            case .remaining: return found + [path.dropFirst(index).joined(separator: "/")]
            case .literal(let text):
                guard index < path.count, PercentCoding.decoded(path[index]) == text else { return nil }
            case .any:
                guard index < path.count, !path[index].isEmpty else { return nil }
                found.append(PercentCoding.decoded(path[index]))
            }
        }
        return pattern.count == path.count ? found : nil
    }
}
