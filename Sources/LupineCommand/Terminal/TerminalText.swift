// SPDX-License-Identifier: MIT

/// Text for people, which distinguishes the command's own text from untrusted text.
///
/// Only literals, with their colours and line ends, are the command's own. Interpolated values are untrusted, and the sink
/// filters them: `\(text)` becomes one line, `\(lines: text)` may have several.
public struct TerminalText: ExpressibleByStringInterpolation, Sendable {
    private enum Piece: Sendable {
        /// The command's own text, which may control the terminal.
        case trusted(String)
        /// Untrusted text, in which line ends become escapes.
        case line(String)
        /// Untrusted text, which keeps its line ends.
        case lines(String)
    }

    private var pieces: [Piece] = []

    /// Creates an empty text.
    public init() {}

    /// Creates a text that is the command's own.
    public init(stringLiteral text: String) { pieces = [.trusted(text)] }

    /// Creates a text from literals and interpolated values.
    public init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.text.pieces }

    /// Creates a text that may control the terminal. It comes from the command or from the user, such as a format of `-w`.
    init(trusted text: String) { pieces = [.trusted(text)] }

    /// Whether the text is empty.
    var isEmpty: Bool {
        pieces.allSatisfy { piece in
            switch piece {
            case .trusted(let text), .line(let text), .lines(let text): text.isEmpty
            }
        }
    }

    /// The unfiltered text, for outputs other than a terminal.
    var plain: String {
        pieces.map { piece in
            switch piece {
            case .trusted(let text), .line(let text), .lines(let text): text
            }
        }.joined()
    }

    /// Returns the text with its untrusted pieces filtered for a terminal.
    func filtered(readsUTF8: Bool) -> [UInt8] {
        var result: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .trusted(let text): result += Array(text.utf8)
            case .line(let text): Self.append(text, keepsLines: false, readsUTF8, to: &result)
            case .lines(let text): Self.append(text, keepsLines: true, readsUTF8, to: &result)
            }
        }
        return result
    }

    /// Appends untrusted text, filtered for a terminal.
    private static func append(
        _ text: String, keepsLines: Bool, _ readsUTF8: Bool, to result: inout [UInt8]
    ) {
        var filter = TerminalFilter(keepsLines: keepsLines, readsUTF8: readsUTF8)
        for octet in text.utf8 { filter.append(octet, to: &result) }
        filter.finish(to: &result)
    }

    static func + (left: TerminalText, right: TerminalText) -> TerminalText {
        var text = left
        text += right
        return text
    }

    static func += (left: inout TerminalText, right: TerminalText) { left.pieces += right.pieces }

    /// The builder of an interpolated literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = TerminalText()

        /// Creates an empty builder.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends the command's own text.
        public mutating func appendLiteral(_ literal: String) { text.pieces.append(.trusted(literal)) }

        /// Appends text with its trusted and untrusted pieces.
        public mutating func appendInterpolation(_ other: TerminalText) { text += other }

        /// Appends an untrusted value as one line.
        public mutating func appendInterpolation(_ other: some CustomStringConvertible) {
            text.pieces.append(.line(other.description))
        }

        /// Appends untrusted text that may have several lines.
        public mutating func appendInterpolation(lines other: String) { text.pieces.append(.lines(other)) }
    }
}

extension [TerminalText] {
    /// Joins the texts with a separator.
    func joined(_ separator: TerminalText = "") -> TerminalText {
        var text = TerminalText()
        for (index, element) in enumerated() { text += index == 0 ? element : separator + element }
        return text
    }
}
