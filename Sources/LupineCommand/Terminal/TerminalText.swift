// SPDX-License-Identifier: MIT

/// Text for people, in which what the command itself writes is kept apart from what came from elsewhere.
///
/// Only literals are the command's own, inks and line ends among them; whatever is interpolated is somebody else's, until a sink
/// makes it harmless: `\(text)` is one line then, `\(lines: text)` may have several.
public struct TerminalText: ExpressibleByStringInterpolation, Sendable {
    private enum Piece: Sendable {
        case own(String)
        case line(String)
        case lines(String)
    }

    private var pieces: [Piece] = []

    /// No text.
    public init() {}

    /// Text of the command's own.
    public init(stringLiteral text: String) { pieces = [.own(text)] }

    /// Text of literals and of what stands between them.
    public init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.text.pieces }

    /// Text of the user's or the command's making that may command the terminal, such as a format of `-w`.
    init(own text: String) { pieces = [.own(text)] }

    /// Whether there is none.
    var isEmpty: Bool {
        pieces.allSatisfy { piece in
            switch piece {
            case .own(let text), .line(let text), .lines(let text): text.isEmpty
            }
        }
    }

    /// The text as it is, for what is no terminal.
    var plain: String {
        pieces.map { piece in
            switch piece {
            case .own(let text), .line(let text), .lines(let text): text
            }
        }.joined()
    }

    /// The text as a terminal may be given it.
    func harmless(readsUTF8: Bool) -> [UInt8] {
        var result: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .own(let text): result += Array(text.utf8)
            case .line(let text): Self.add(text, keepsLines: false, readsUTF8, to: &result)
            case .lines(let text): Self.add(text, keepsLines: true, readsUTF8, to: &result)
            }
        }
        return result
    }

    private static func add(_ text: String, keepsLines: Bool, _ readsUTF8: Bool, to result: inout [UInt8]) {
        var filter = TerminalFilter(keepsLines: keepsLines, readsUTF8: readsUTF8)
        for octet in text.utf8 { filter.take(octet, into: &result) }
        filter.finish(into: &result)
    }

    static func + (left: TerminalText, right: TerminalText) -> TerminalText {
        var text = left
        text += right
        return text
    }

    static func += (left: inout TerminalText, right: TerminalText) { left.pieces += right.pieces }

    /// What a literal with something in between is made from.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = TerminalText()

        /// An empty one.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// The command's own.
        public mutating func appendLiteral(_ literal: String) { text.pieces.append(.own(literal)) }

        /// Text that is known already.
        public mutating func appendInterpolation(_ other: TerminalText) { text += other }

        /// What is somebody else's, as one line.
        public mutating func appendInterpolation(_ other: some CustomStringConvertible) {
            text.pieces.append(.line(other.description))
        }

        /// What is somebody else's, in lines.
        public mutating func appendInterpolation(lines other: String) { text.pieces.append(.lines(other)) }
    }
}

extension [TerminalText] {
    /// All of them, with a text in between.
    func joined(_ separator: TerminalText = "") -> TerminalText {
        var text = TerminalText()
        for (index, one) in enumerated() { text += index == 0 ? one : separator + one }
        return text
    }
}
