// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

/// How a content begins, as one line of a text for people: without the values of JSON members whose names are those of secrets.
///
/// Reads as much as it shows, and no grammar: a content that is no JSON is shown as it is.
struct ContentStart {
    /// The line. It ends with `…` where something is left out.
    let text: String

    /// So many octets are shown.
    private static let shownOctets = 120
    private static let quote = UInt8(ascii: "\"")

    init(_ data: Data) {
        let octets = Array(data.prefix(Self.shownOctets))
        var shown: [UInt8] = []
        var isCut = data.count > Self.shownOctets
        var index = 0
        while index < octets.count {
            guard let member = Member(in: octets, at: index) else {
                shown.append(octets[index])
                index += 1
                continue
            }
            let isSecret = LogRedaction.isSecret(String(decoding: octets[member.name], as: UTF8.self))
            if isSecret, member.isContainer {
                // Nothing behind it is shown: what belongs to it is not known.
                shown += octets[index...member.name.upperBound] + [UInt8(ascii: ":")] + LogRedaction.mark.utf8
                isCut = true
                break
            }
            shown += octets[index..<member.value.lowerBound]
            if isSecret { shown += LogRedaction.mark.utf8 } else { shown += octets[member.value] }
            index = member.value.upperBound
        }
        text = LogRedaction.line(String(decoding: shown, as: UTF8.self)) + (isCut ? "…" : "")
    }

    /// A name in quotes, a colon, and what stands behind it.
    private struct Member {
        /// The name, without its quotes.
        let name: Range<Int>
        /// A string with its quotes, or what stands there up to a blank, a comma, a quote or the end of the object; empty for
        /// an array or an object.
        let value: Range<Int>
        let isContainer: Bool

        /// Nil where no member begins.
        init?(in octets: [UInt8], at start: Int) {
            guard octets[start] == ContentStart.quote,
                let end = octets[(start + 1)...].firstIndex(of: ContentStart.quote)
            else { return nil }
            name = start + 1..<end
            let colon = Self.skipBlanks(octets, from: end + 1)
            guard colon < octets.count, octets[colon] == UInt8(ascii: ":") else { return nil }
            let first = Self.skipBlanks(octets, from: colon + 1)
            guard first < octets.count else { return nil }
            isContainer = octets[first] == UInt8(ascii: "{") || octets[first] == UInt8(ascii: "[")
            var last = first
            if octets[first] == ContentStart.quote {
                last += 1
                while last < octets.count, octets[last] != ContentStart.quote {
                    last += octets[last] == UInt8(ascii: "\\") ? 2 : 1
                }
                last = min(last + 1, octets.count)
            } else if !isContainer {
                while last < octets.count, !Self.endsValue(octets[last]) { last += 1 }
            }
            value = first..<last
        }

        private static func skipBlanks(_ octets: [UInt8], from start: Int) -> Int {
            octets[start...].firstIndex { !isBlank($0) } ?? octets.count
        }

        private static func isBlank(_ octet: UInt8) -> Bool {
            octet == 0x20 || (0x09...0x0D).contains(octet)
        }

        private static func endsValue(_ octet: UInt8) -> Bool {
            isBlank(octet) || octet == UInt8(ascii: ",") || octet == UInt8(ascii: "}")
                || octet == ContentStart.quote
        }
    }
}
