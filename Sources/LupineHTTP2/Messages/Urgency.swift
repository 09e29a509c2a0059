// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The urgency of a stream among the streams of its connection: RFC 9218 §4.1, from 0 for the most urgent to 7.
///
/// The incremental parameter (§4.2, `i`) is ignored: streams of equal urgency always send alternately.
package struct Urgency: Hashable, Comparable, Sendable {
    /// The number on the wire.
    package let rawValue: UInt8

    /// Creates an urgency from its number; a number above 7 counts as 7.
    package init(_ rawValue: UInt8) { self.rawValue = min(rawValue, 7) }

    /// The default urgency.
    package static let normal = Urgency(3)

    /// The value of a `priority` field, or of PRIORITY_UPDATE, for this urgency.
    package var fieldValue: String { "u=\(rawValue)" }

    package static func < (left: Urgency, right: Urgency) -> Bool { left.rawValue < right.rawValue }
}

extension Urgency {
    // The octets that are special in a Structured Field (RFC 9651).
    private static let comma = UInt8(ascii: ",")
    private static let semicolon = UInt8(ascii: ";")
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
    private static let equals = UInt8(ascii: "=")
    private static let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]

    /// Parses the urgency in the value of a `priority` field, a dictionary (RFC 9651 §3.2). If the urgency is missing or invalid,
    /// the default applies (§4). If it occurs several times, the last one counts.
    package init(fieldValue value: Span<UInt8>) {
        self = .normal
        var member: [UInt8] = []
        var isQuoted = false
        var index = 0
        while index < value.count {
            let octet = value[index]
            index += 1
            if isQuoted, octet == Self.backslash {
                // Skips the escaped octet: if it is a quote, it does not end the string.
                index += 1
            } else if octet == Self.quote {
                isQuoted.toggle()
                member.append(octet)
            } else if octet == Self.comma, !isQuoted {
                apply(member)
                member = []
            } else {
                member.append(octet)
            }
        }
        apply(member)
    }

    /// Applies a member of the dictionary if its key is `u`. Ignores other members, and the parameters that follow the value.
    private mutating func apply(_ member: [UInt8]) {
        let keyAndValue = member.drop { Self.blanks.contains($0) }.prefix { $0 != Self.semicolon }
        guard let last = keyAndValue.lastIndex(where: { !Self.blanks.contains($0) }) else { return }
        let text = Array(keyAndValue[...last])
        // Returns for another key.
        guard text.starts(with: "u".utf8), text.count == 1 || text[1] == Self.equals else { return }
        // `u` without a value, or with anything but a digit from 0 to 7, is invalid: the default applies.
        guard text.count == 3, (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(text[2]) else {
            self = .normal
            return
        }
        self = Urgency(text[2] - UInt8(ascii: "0"))
    }
}

extension FieldName {
    /// The field with the priority of a request: RFC 9218 §5.
    package static let priority: FieldName = {
        let name = Array("Priority".utf8)
        return FieldName(validated: name.span, name.indices)
    }()
}
