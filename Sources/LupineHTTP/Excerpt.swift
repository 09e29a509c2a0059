// SPDX-License-Identifier: MIT

/// The beginning of a text, to be shown in an error message.
///
/// It contains at most 48 octets of the text. All octets but visible ASCII and spaces are escaped, so that the excerpt is safe to
/// print in a terminal or a log line.
public struct Excerpt: Hashable, Sendable, CustomStringConvertible {
    /// The escaped text, without quotes.
    public let text: String

    /// The maximum number of octets of the original text.
    private static let maximumLength = 48

    /// The beginning of received octets.
    package init(_ bytes: Span<UInt8>) {
        var text = ""
        for index in 0..<min(bytes.count, Self.maximumLength) { text += Self.escaped(bytes[index]) }
        if bytes.count > Self.maximumLength { text += "..." }
        self.text = text
    }

    /// The beginning of a caller's text.
    package init(_ string: String) {
        var text = ""
        for octet in string.utf8.prefix(Self.maximumLength) { text += Self.escaped(octet) }
        if string.utf8.count > Self.maximumLength { text += "..." }
        self.text = text
    }

    /// Returns an octet as a character, or as an escape such as `\n` or `\x1f`.
    private static func escaped(_ octet: UInt8) -> String {
        switch octet {
        case 0x20...0x7E: String(Unicode.Scalar(octet))
        case Octet.carriageReturn: "\\r"
        case Octet.lineFeed: "\\n"
        case Octet.tab: "\\t"
        default: "\\x" + (octet < 16 ? "0" : "") + String(octet, radix: 16)
        }
    }

    public var description: String { "\"\(text)\"" }
}
