// SPDX-License-Identifier: MIT

internal import Foundation

/// Adds line breaks and colours to JSON for people, and replaces its white space. It formats the content octet by octet while it
/// arrives, without buffering it.
///
/// From the first octet on that violates the grammar, the content is written as it is. The output is at most 70 times as long as
/// the content, since the indent stops growing at depth 16.
struct JSONPainter: Sendable {
    /// What was written last, apart from white space.
    private enum Previous { case nothing, openBracket, comma, colon, value }

    /// The depth at which the indent stops growing.
    static let deepestIndent = 16
    /// The maximum number of blanks that are stored for the case that the content turns out to be invalid.
    private static let maximumBlankCount = 64

    private let style: Style
    private let breaksLines: Bool
    /// Whether white space before the value is written as it is. `BodyPresenter` sets this if each line is a value.
    private let keepsLeadingBlanks: Bool
    private var scanner = JSONScanner()
    private var previous = Previous.nothing
    /// The number of open brackets and braces.
    private var depth = 0
    /// The white space since the last token, which is written only if the content turns out to be invalid.
    private var blanks: [UInt8] = []
    /// The kind of the scalar whose colour is switched on.
    private var currentKind: JSONScanner.Kind?
    /// Whether the content has violated the grammar.
    private var isInvalid = false

    init(style: Style, breaksLines: Bool, keepsLeadingBlanks: Bool = false) {
        self.style = style
        self.breaksLines = breaksLines
        self.keepsLeadingBlanks = keepsLeadingBlanks
    }

    /// Writes the next octet, with the line breaks and colours before it.
    mutating func write(_ octet: UInt8, to writer: inout ProcessContext.ContentWriter) throws {
        if isInvalid { return try writer.writeContent(octet) }
        let octetClass = scanner.scan(octet)
        // The octet continues the current scalar.
        if case .scalar(let kind) = octetClass, kind == currentKind { return try writer.writeContent(octet) }
        // The octet ends the current scalar, if there is one.
        try finish(to: &writer)
        switch octetClass {
        // Returns at once, so that the stored blanks are not removed at the end of this method.
        case .blank: return try storeBlank(octet, &writer)
        case .invalid:
            isInvalid = true
            for blank in blanks { try writer.writeContent(blank) }
            try writer.writeContent(octet)
        case .scalar(let kind):
            try writeWhiteSpace(&writer)
            try writer.writeTrusted(style.begin(Self.ink(kind)))
            try writer.writeContent(octet)
            currentKind = kind
            previous = .value
        case .open:
            try writeWhiteSpace(&writer)
            try writer.writeContent(octet)
            depth += 1
            previous = .openBracket
        case .close:
            depth -= 1
            if previous != .openBracket, breaksLines { try breakLine(&writer) }
            try writer.writeContent(octet)
            previous = .value
        case .comma:
            try writer.writeContent(octet)
            previous = .comma
        case .colon:
            try writer.writeContent(octet)
            previous = .colon
        }
        blanks.removeAll(keepingCapacity: true)
    }

    /// Switches the colour off, at the end of a scalar or of the input.
    mutating func finish(to writer: inout ProcessContext.ContentWriter) throws {
        guard currentKind != nil else { return }
        currentKind = nil
        try writer.writeTrusted(style.end)
    }

    /// Writes a blank that precedes the value if `keepsLeadingBlanks` is true; stores other blanks.
    private mutating func storeBlank(_ octet: UInt8, _ writer: inout ProcessContext.ContentWriter) throws {
        if keepsLeadingBlanks, previous == .nothing {
            try writer.writeContent(octet)
        } else if blanks.count < Self.maximumBlankCount {
            blanks.append(octet)
        }
    }

    /// Writes the white space before a value or a name.
    private func writeWhiteSpace(_ writer: inout ProcessContext.ContentWriter) throws {
        switch previous {
        case .nothing, .value: break
        case .openBracket: if breaksLines { try breakLine(&writer) }
        case .comma: if breaksLines { try breakLine(&writer) } else { try writer.writeTrusted(" ") }
        case .colon: try writer.writeTrusted(" ")
        }
    }

    /// Writes a line feed and the indent of the current depth.
    private func breakLine(_ writer: inout ProcessContext.ContentWriter) throws {
        try writer.writeTrusted("\n" + String(repeating: "    ", count: min(depth, Self.deepestIndent)))
    }

    /// Returns the colour of a kind of scalar.
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
    /// Writes a complete text: JSON in colours and without added line breaks, any other text as content.
    mutating func writePainted(_ text: String, _ style: Style) throws {
        guard JSONText.isValid(Array(text.utf8)) else { return try writeContent(Data(text.utf8)) }
        var painter = JSONPainter(style: style, breaksLines: false)
        for octet in text.utf8 { try painter.write(octet, to: &self) }
        try painter.finish(to: &self)
    }
}
