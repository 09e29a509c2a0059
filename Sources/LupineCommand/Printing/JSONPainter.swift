// SPDX-License-Identifier: MIT

internal import Foundation

/// Formats JSON for people with line breaks and colours, and changes nothing else. It works on a stream and buffers no content.
///
/// From the first octet that is not JSON on, the rest is written unpainted; what was painted stays. One octet becomes at most 70,
/// since the indent stops growing at depth 16.
struct JSONPainter: Sendable {
    private enum Previous { case nothing, open, comma, colon, value }

    /// The depth from which on the indent no longer grows.
    static let deepestIndent = 16
    /// The maximum of white space kept for the case that no JSON follows.
    private static let mostBlanks = 64

    private let style: Style
    private let breaksLines: Bool
    /// Whether white space before the value is kept, as when each line is a value.
    private let keepsMargin: Bool
    private var scanner = JSONScanner()
    private var previous = Previous.nothing
    private var depth = 0
    private var blanks: [UInt8] = []
    /// The kind whose colour is switched on.
    private var painted: JSONScanner.Kind?
    private var isBroken = false

    init(style: Style, breaksLines: Bool, keepsMargin: Bool = false) {
        self.style = style
        self.breaksLines = breaksLines
        self.keepsMargin = keepsMargin
    }

    /// Takes the next octet.
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
            try writer.trusted(style.begin(Self.ink(kind)))
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

    /// Switches the colour off, at the end of a scalar or of the input.
    mutating func finish(into writer: inout ProcessContext.ContentWriter) throws {
        guard painted != nil else { return }
        painted = nil
        try writer.trusted(style.end)
    }

    private mutating func skip(_ octet: UInt8, _ writer: inout ProcessContext.ContentWriter) throws {
        if keepsMargin, previous == .nothing {
            try writer.content(octet)
        } else if blanks.count < Self.mostBlanks {
            blanks.append(octet)
        }
    }

    /// Writes the white space before a value or a name.
    private func lead(_ writer: inout ProcessContext.ContentWriter) throws {
        switch previous {
        case .nothing, .value: break
        case .open: if breaksLines { try breakLine(&writer) }
        case .comma: if breaksLines { try breakLine(&writer) } else { try writer.trusted(" ") }
        case .colon: try writer.trusted(" ")
        }
    }

    private func breakLine(_ writer: inout ProcessContext.ContentWriter) throws {
        try writer.trusted("\n" + String(repeating: "    ", count: min(depth, Self.deepestIndent)))
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
    /// Writes a complete text: JSON painted on one line, any other text unchanged.
    mutating func painted(_ text: String, _ style: Style) throws {
        guard JSONText.isValid(Array(text.utf8)) else { return try content(Data(text.utf8)) }
        var painter = JSONPainter(style: style, breaksLines: false)
        for octet in text.utf8 { try painter.take(octet, into: &self) }
        try painter.finish(into: &self)
    }
}
