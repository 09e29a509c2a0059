// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Decodes percent-encoded text (RFC 3986 section 2.1), and its variant in queries, where a plus represents a space.
enum PercentCoding {
    /// Returns the decoded text; a percent sign that does not begin a triplet represents itself. Text with long runs of combining
    /// characters is decoded as Latin-1: the result is used for look-ups, and such text is slow to compare.
    static func decoded(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String {
        let octets = text.utf8
        guard octets.contains(UInt8(ascii: "%")) || plusIsSpace && octets.contains(UInt8(ascii: "+")) else {
            return String(text).isStreamSafe ? String(text) : Array(octets).span.text(0..<octets.count)
        }
        let source = Array(octets)
        var output: [UInt8] = []
        var index = 0
        while index < source.count {
            if source[index] == UInt8(ascii: "%"), index + 2 < source.count,
                let high = Octet.hexadecimal(source[index + 1]),
                let low = Octet.hexadecimal(source[index + 2])
            {
                output.append(high << 4 | low)
                index += 3
            } else {
                output.append(
                    plusIsSpace && source[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : source[index])
                index += 1
            }
        }
        return output.span.text(0..<output.count)
    }
}
