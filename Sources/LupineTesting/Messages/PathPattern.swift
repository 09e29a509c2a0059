// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// A pattern for paths, with names in braces: `/users/{id}/posts`.
///
/// A segment in braces matches any segment that is not empty; `{*}` at the end, as in `/files/{*}`, matches all further segments.
struct PathPattern: Sendable {
    private enum Segment {
        case literal(String)
        case named(String)
        /// `{*}`: all segments that follow.
        case remaining
    }

    let text: String
    private let segments: [Segment]

    init(_ text: String) {
        self.text = text
        segments = Self.split(text).map { part in
            if part == "{*}" { return .remaining }
            guard part.hasPrefix("{"), part.hasSuffix("}"), part.count > 2 else {
                return .literal(Self.decoded(part))
            }
            return .named(String(part.dropFirst().dropLast()))
        }
    }

    /// Returns the decoded values of the names in braces; nil when the percent-encoded path does not match. The
    /// segments that `{*}` matches are named `*`.
    func parameters(in path: String) -> [String: String]? {
        let parts = Self.split(path)
        var found: [String: String] = [:]
        for (index, segment) in segments.enumerated() {
            switch segment {
            case .remaining:
                found["*"] = parts.dropFirst(index).map(Self.decoded).joined(separator: "/")
                return found
            case .literal(let text):
                guard index < parts.count, Self.decoded(parts[index]).hasSameOctets(as: text) else {
                    return nil
                }
            case .named(let name):
                guard index < parts.count, !parts[index].isEmpty else { return nil }
                found[name] = Self.decoded(parts[index])
            }
        }
        return parts.count == segments.count ? found : nil
    }

    private static func split(_ path: String) -> [Substring] {
        (path.hasPrefix("/") ? path.dropFirst() : path[...])
            .split(separator: "/", omittingEmptySubsequences: false)
    }

    private static func decoded(_ part: Substring) -> String { part.removingPercentEncoding ?? String(part) }
}
