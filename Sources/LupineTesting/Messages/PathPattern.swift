// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// A pattern for paths, with names in braces: `/users/{id}/posts`.
///
/// A segment in braces matches any segment that is not empty; `{*}` at the end, as in `/files/{*}`, matches all further segments.
struct PathPattern: Sendable {
    private enum Segment {
        /// A segment that matches this decoded text.
        case literal(String)
        /// `{name}`: any segment that is not empty.
        case named(String)
        /// `{*}`: all segments that follow.
        case remaining
    }

    /// The pattern as written.
    let text: String
    private let segments: [Segment]

    init(_ text: String) {
        self.text = text
        segments = Self.split(text).map { segment in
            if segment == "{*}" { return .remaining }
            guard segment.hasPrefix("{"), segment.hasSuffix("}"), segment.count > 2 else {
                return .literal(Self.decoded(segment))
            }
            return .named(String(segment.dropFirst().dropLast()))
        }
    }

    /// Returns the decoded values of the names in braces; nil when the percent-encoded path does not match. The
    /// segments that `{*}` matches are named `*`.
    func parameters(in path: String) -> [String: String]? {
        let pathSegments = Self.split(path)
        var parameters: [String: String] = [:]
        for (index, segment) in segments.enumerated() {
            switch segment {
            case .remaining:
                parameters["*"] = pathSegments.dropFirst(index).map(Self.decoded).joined(separator: "/")
                return parameters
            case .literal(let text):
                // `==` would treat texts with different octets as equal if they are canonically equivalent.
                guard index < pathSegments.count,
                    Self.decoded(pathSegments[index]).hasSameOctets(as: text)
                else { return nil }
            case .named(let name):
                guard index < pathSegments.count, !pathSegments[index].isEmpty else { return nil }
                parameters[name] = Self.decoded(pathSegments[index])
            }
        }
        return pathSegments.count == segments.count ? parameters : nil
    }

    /// Splits a path at its slashes, without the first one.
    private static func split(_ path: String) -> [Substring] {
        (path.hasPrefix("/") ? path.dropFirst() : path[...])
            .split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Returns a segment, percent-decoded if its encoding is valid.
    private static func decoded(_ segment: Substring) -> String {
        segment.removingPercentEncoding ?? String(segment)
    }
}
