// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

/// The beginning of a message's content as one line for developers. JSON members whose names indicate secrets have their values
/// redacted.
///
/// The initializer reads only the octets that it shows. It does not parse JSON, but searches for `"name": value`; other content
/// is shown unchanged.
struct ContentPreview {
    /// The line. It ends with `…` if part of the content is omitted.
    let text: String

    /// The maximum number of octets shown.
    private static let maximumOctets = 120
    private static let quote = UInt8(ascii: "\"")

    init(_ data: Data) {
        let octets = Array(data.prefix(Self.maximumOctets))
        var shown: [UInt8] = []
        var isCut = data.count > Self.maximumOctets
        var index = 0
        while index < octets.count {
            guard let member = Member(in: octets, at: index) else {
                shown.append(octets[index])
                index += 1
                continue
            }
            let isSecret = LogRedaction.isSecret(String(decoding: octets[member.name], as: UTF8.self))
            if isSecret, member.isContainer {
                // All following octets are omitted, because the end of the array or object is unknown.
                shown += octets[index...member.name.upperBound] + [UInt8(ascii: ":")] + LogRedaction.mark.utf8
                isCut = true
                break
            }
            shown += octets[index..<member.value.lowerBound]
            if isSecret {
                shown += LogRedaction.mark.utf8
            } else {
                shown += octets[member.value]
            }
            index = member.value.upperBound
        }
        text = LogRedaction.line(String(decoding: shown, as: UTF8.self)) + (isCut ? "…" : "")
    }

    /// A JSON member: a name in quotes, a colon and a value.
    private struct Member {
        /// The position of the name, without its quotes.
        let name: Range<Int>
        /// The position of the value: a string with its quotes, or the octets up to white space, a comma, a quote or the end of
        /// the object; empty for an array or an object.
        let value: Range<Int>
        /// Whether the value is an array or an object.
        let isContainer: Bool

        /// Fails if no member begins at `start`.
        init?(in octets: [UInt8], at start: Int) {
            guard octets[start] == ContentPreview.quote,
                let nameEnd = octets[(start + 1)...].firstIndex(of: ContentPreview.quote)
            else { return nil }
            name = start + 1..<nameEnd
            let colon = Self.skipBlanks(octets, from: nameEnd + 1)
            guard colon < octets.count, octets[colon] == UInt8(ascii: ":") else { return nil }
            let valueStart = Self.skipBlanks(octets, from: colon + 1)
            guard valueStart < octets.count else { return nil }
            isContainer = octets[valueStart] == UInt8(ascii: "{") || octets[valueStart] == UInt8(ascii: "[")
            var valueEnd = valueStart
            if octets[valueStart] == ContentPreview.quote {
                valueEnd += 1
                while valueEnd < octets.count, octets[valueEnd] != ContentPreview.quote {
                    // A backslash escapes the next octet, which may be a quote.
                    valueEnd += octets[valueEnd] == UInt8(ascii: "\\") ? 2 : 1
                }
                valueEnd = min(valueEnd + 1, octets.count)
            } else if !isContainer {
                while valueEnd < octets.count, !Self.endsValue(octets[valueEnd]) { valueEnd += 1 }
            }
            value = valueStart..<valueEnd
        }

        /// Returns the position of the first octet from `start` on that is not blank.
        private static func skipBlanks(_ octets: [UInt8], from start: Int) -> Int {
            octets[start...].firstIndex { !isBlank($0) } ?? octets.count
        }

        /// Whether the octet is a space or one of the controls from tab to carriage return.
        private static func isBlank(_ octet: UInt8) -> Bool {
            octet == 0x20 || (0x09...0x0D).contains(octet)
        }

        private static func endsValue(_ octet: UInt8) -> Bool {
            isBlank(octet) || octet == UInt8(ascii: ",") || octet == UInt8(ascii: "}")
                || octet == ContentPreview.quote
        }
    }
}
