// SPDX-License-Identifier: MIT

/// The beginning of a text for an error message.
///
/// At most 48 octets, with all but visible ASCII and spaces escaped, so that it is safe in a terminal or a log line.
public struct Excerpt: Hashable, Sendable, CustomStringConvertible {
    /// The escaped text, without quotes.
    public let text: String

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
