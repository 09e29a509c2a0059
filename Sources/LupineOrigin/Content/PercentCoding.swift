// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Decodes percent-encoded text (RFC 3986 section 2.1), and the form encoding of queries, in which a plus sign represents a
/// space.
enum PercentCoding {
    /// Returns the decoded text. A percent sign that two hexadecimal digits do not follow represents itself. Text with long runs
    /// of combining characters is decoded as Latin-1: routes and queries compare the result, and long runs make a comparison
    /// slow.
    static func decoded(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String {
        let octets = text.utf8
        let needsDecoding =
            octets.contains(UInt8(ascii: "%")) || plusIsSpace && octets.contains(UInt8(ascii: "+"))
        guard needsDecoding else {
            // `isStreamSafe` and `text` detect long runs of combining characters.
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
