// SPDX-License-Identifier: MIT

internal import Foundation

/// The body that a pattern expects.
enum BodyPattern: Sendable {
    /// Exactly these octets.
    case data(Data)
    /// A JSON document with this value, in any formatting.
    case json(Data)

    /// The largest number of bytes of a body that messages show as text.
    private static let maximumShownByteCount = 2_000

    /// Returns how a request's body differs from the expected one; nil when it matches.
    func difference(from body: Data) -> StubDifference? {
        switch self {
        case .data(let expected):
            if expected == body { return nil }
            return StubDifference(
                label: "body", expected: Self.text(expected), actual: Self.text(body))
        case .json(let expected):
            let actual = Self.canonical(body)
            if let actual, actual == Self.canonical(expected) { return nil }
            return StubDifference(
                label: "body", expected: Self.text(Self.canonical(expected) ?? expected),
                actual: Self.text(actual ?? body))
        }
    }

    /// Returns a JSON document with sorted members and uniform white space; nil when the data is not JSON.
    private static func canonical(_ json: Data) -> Data? {
        guard let value = try? JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed) else {
            return nil
        }
        return try? JSONSerialization.data(
            withJSONObject: value, options: [.fragmentsAllowed, .prettyPrinted, .sortedKeys])
    }

    /// Returns a body as messages show it: its text, or its size if it is long or binary. Nil if it is empty.
    private static func text(_ body: Data) -> String? {
        if body.isEmpty { return nil }
        guard body.count <= maximumShownByteCount, let text = String(data: body, encoding: .utf8) else {
            return "\(body.count) bytes"
        }
        return text
    }
}
