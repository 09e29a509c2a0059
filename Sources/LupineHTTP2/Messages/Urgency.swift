// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The urgency of a stream among the streams of its connection: RFC 9218 §4.1, from 0 for the most urgent to 7.
///
/// The incremental parameter (§4.2, `i`) is ignored: streams of equal urgency always send in turn.
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
    private static let comma: UInt8 = 0x2C
    private static let semicolon: UInt8 = 0x3B
    private static let quote: UInt8 = 0x22
    private static let backslash: UInt8 = 0x5C
    private static let blanks: [UInt8] = [0x20, 0x09]

    /// Parses the urgency in the value of a `priority` field. If it is missing or invalid, the default applies (§4); of several
    /// members, the last one counts (RFC 9651 §3.2).
    package init(fieldValue value: Span<UInt8>) {
        self = .normal
        var member: [UInt8] = []
        var isQuoted = false
        var index = 0
        while index < value.count {
            let octet = value[index]
            index += 1
            if isQuoted, octet == Self.backslash {
                // An escaped quote does not end the string.
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

    /// Applies a member `u=` of a dictionary, with or without parameters; other members are ignored.
    private mutating func apply(_ member: [UInt8]) {
        let item = member.drop { Self.blanks.contains($0) }.prefix { $0 != Self.semicolon }
        guard let last = item.lastIndex(where: { !Self.blanks.contains($0) }) else { return }
        let text = Array(item[...last])
        // `u` without a value, or `u=` and a digit from 0 to 7; any other value is invalid.
        guard text.starts(with: "u".utf8), text.count == 1 || text[1] == 0x3D else { return }
        guard text.count == 3, (0x30...0x37).contains(text[2]) else {
            self = .normal
            return
        }
        self = Urgency(text[2] - 0x30)
    }
}

extension FieldName {
    /// The field with the priority of a request: RFC 9218 §5.
    package static let priority: FieldName = {
        let name = Array("Priority".utf8)
        return FieldName(validated: name.span, name.indices)
    }()
}
