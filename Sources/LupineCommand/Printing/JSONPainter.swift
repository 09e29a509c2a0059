// SPDX-License-Identifier: MIT

internal import Foundation

/// JSON for people: line ends and colours, nothing else changed. It paints while the content comes, and holds none of it.
///
/// From the first octet on that is no JSON the rest goes out unpainted; what was painted is left standing. An octet becomes at
/// most 70: indent stops growing at depth 16.
struct JSONPainter: Sendable {
    private enum Previous { case nothing, open, comma, colon, value }

    /// The depth from which on all stands below each other.
    static let deepestIndent = 16
    /// White space that is kept for the case that no JSON follows.
    private static let mostBlanks = 64

    private let style: Style
    private let breaksLines: Bool
    /// Whether white space in front of the value stays, as it does where each line is a value.
    private let keepsMargin: Bool
    private var scanner = JSONScanner()
    private var previous = Previous.nothing
    private var depth = 0
    private var blanks: [UInt8] = []
    /// What is being written in its ink.
    private var painted: JSONScanner.Kind?
    private var isBroken = false

    init(style: Style, breaksLines: Bool, keepsMargin: Bool = false) {
        self.style = style
        self.breaksLines = breaksLines
        self.keepsMargin = keepsMargin
    }

    /// The next octet.
    mutating func take(_ octet: UInt8, into writer: inout ProcessContext.ContentWriter) throws {
        if isBroken { return try writer.content(octet) }
        let step = scanner.take(octet)
        if case .part(let kind) = step, kind == painted { return try writer.content(octet) }
        try finish(into: &writer)
        switch step {
        case .blank: return try skip(octet, &writer)
        case .broken:
            isBroken = true
            for blank in blanks { try writer.content(blank) }
            try writer.content(octet)
        case .part(let kind):
            try lead(&writer)
            try writer.own(style.begin(Self.ink(kind)))
            try writer.content(octet)
            painted = kind
            previous = .value
        case .open:
            try lead(&writer)
            try writer.content(octet)
            depth += 1
            previous = .open
        case .close:
            depth -= 1
            if previous != .open, breaksLines { try breakLine(&writer) }
            try writer.content(octet)
            previous = .value
        case .comma:
            try writer.content(octet)
            previous = .comma
        case .colon:
            try writer.content(octet)
            previous = .colon
        }
        blanks.removeAll(keepingCapacity: true)
    }

    /// No more comes: what is written in an ink ends.
    mutating func finish(into writer: inout ProcessContext.ContentWriter) throws {
        guard painted != nil else { return }
        painted = nil
        try writer.own(style.end)
    }

    private mutating func skip(_ octet: UInt8, _ writer: inout ProcessContext.ContentWriter) throws {
        if keepsMargin, previous == .nothing {
            try writer.content(octet)
        } else if blanks.count < Self.mostBlanks {
            blanks.append(octet)
        }
    }

    /// What stands before a value or a name.
    private func lead(_ writer: inout ProcessContext.ContentWriter) throws {
        switch previous {
        case .nothing, .value: break
        case .open: if breaksLines { try breakLine(&writer) }
        case .comma: if breaksLines { try breakLine(&writer) } else { try writer.own(" ") }
        case .colon: try writer.own(" ")
        }
    }

    private func breakLine(_ writer: inout ProcessContext.ContentWriter) throws {
        try writer.own("\n" + String(repeating: "    ", count: min(depth, Self.deepestIndent)))
    }

    private static func ink(_ kind: JSONScanner.Kind) -> Style.Ink {
        switch kind {
        case .name: .name
        case .string: .string
        case .number: .number
        case .word: .word
        }
    }
}

extension ProcessContext.ContentWriter {
    /// A text that is there as a whole: JSON painted in one line, any other as it is.
    mutating func painted(_ text: String, _ style: Style) throws {
        guard JSONText.isValid(Array(text.utf8)) else { return try content(Data(text.utf8)) }
        var painter = JSONPainter(style: style, breaksLines: false)
        for octet in text.utf8 { try painter.take(octet, into: &self) }
        try painter.finish(into: &self)
    }
}
