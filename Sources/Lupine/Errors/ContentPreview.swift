// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

/// The beginning of a message's content as one line for developers. The values of JSON members are redacted if their names
/// indicate secrets.
///
/// The initializer reads only the octets that it shows. It does not parse JSON: it searches for `"name": value`, and shows all
/// other content unchanged.
struct ContentPreview {
    /// The line. It ends with `…` if part of the content is omitted.
    let text: String

    /// The maximum number of octets that are shown.
    private static let maximumOctets = 120
    private static let quotationMark = UInt8(ascii: "\"")

    init(_ data: Data) {
        let octets = Array(data.prefix(Self.maximumOctets))
        var shownOctets: [UInt8] = []
        var isTruncated = data.count > Self.maximumOctets
        var index = 0
        while index < octets.count {
            // Copies single octets up to the next member.
            guard let member = Member(in: octets, at: index) else {
                shownOctets.append(octets[index])
                index += 1
                continue
            }
            let isSecret = LogRedaction.isSecret(String(decoding: octets[member.nameRange], as: UTF8.self))
            if isSecret, member.isContainer {
                // All following octets are omitted, because the end of the array or object is unknown.
                // The bound of the range is the position of the closing quote.
                let quotedName = octets[index...member.nameRange.upperBound]
                shownOctets += quotedName + [UInt8(ascii: ":")] + LogRedaction.mark.utf8
                isTruncated = true
                break
            }
            shownOctets += octets[index..<member.valueRange.lowerBound]
            if isSecret {
                shownOctets += LogRedaction.mark.utf8
            } else {
                shownOctets += octets[member.valueRange]
            }
            // The range of an array's or object's value is empty, so the loop continues with its members.
            index = member.valueRange.upperBound
        }
        text = LogRedaction.line(String(decoding: shownOctets, as: UTF8.self)) + (isTruncated ? "…" : "")
    }

    /// A JSON member: a name in quotes, a colon and a value.
    private struct Member {
        /// The range of the name in the octets, without its quotes.
        let nameRange: Range<Int>
        /// The range of the value in the octets. A string is included with its quotes. A number or a word ends at white space, a
        /// comma, a quotation mark or the end of the object. The range is empty for an array or an object.
        let valueRange: Range<Int>
        /// Whether the value is an array or an object.
        let isContainer: Bool

        /// Returns nil if no member begins at `start`.
        init?(in octets: [UInt8], at start: Int) {
            guard octets[start] == ContentPreview.quotationMark,
                let nameEnd = octets[(start + 1)...].firstIndex(of: ContentPreview.quotationMark)
            else { return nil }
            nameRange = start + 1..<nameEnd
            let colon = Self.skipBlanks(octets, from: nameEnd + 1)
            guard colon < octets.count, octets[colon] == UInt8(ascii: ":") else { return nil }
            let valueStart = Self.skipBlanks(octets, from: colon + 1)
            guard valueStart < octets.count else { return nil }
            isContainer = octets[valueStart] == UInt8(ascii: "{") || octets[valueStart] == UInt8(ascii: "[")
            var valueEnd = valueStart
            if octets[valueStart] == ContentPreview.quotationMark {
                valueEnd += 1
                while valueEnd < octets.count, octets[valueEnd] != ContentPreview.quotationMark {
                    // A backslash escapes the next octet, which may be a quotation mark.
                    valueEnd += octets[valueEnd] == UInt8(ascii: "\\") ? 2 : 1
                }
                // Includes the closing quote, if it is among the octets.
                valueEnd = min(valueEnd + 1, octets.count)
            } else if !isContainer {
                while valueEnd < octets.count, !Self.endsValue(octets[valueEnd]) { valueEnd += 1 }
            }
            valueRange = valueStart..<valueEnd
        }

        /// Returns the position of the first octet from `start` on that is not blank.
        private static func skipBlanks(_ octets: [UInt8], from start: Int) -> Int {
            octets[start...].firstIndex { !isBlank($0) } ?? octets.count
        }

        /// Whether the octet is a space or one of the controls from tab to carriage return.
        private static func isBlank(_ octet: UInt8) -> Bool {
            octet == 0x20 || (0x09...0x0D).contains(octet)
        }

        /// Whether the octet follows a number, `true`, `false` or `null`.
        private static func endsValue(_ octet: UInt8) -> Bool {
            isBlank(octet) || octet == UInt8(ascii: ",") || octet == UInt8(ascii: "}")
                || octet == ContentPreview.quotationMark
        }
    }
}
