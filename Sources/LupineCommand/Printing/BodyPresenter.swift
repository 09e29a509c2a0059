// SPDX-License-Identifier: MIT

internal import Foundation

/// Writes the body of one transfer to the standard output: unchanged to a pipe or a file, formatted for people on a terminal.
///
/// Formatting colours JSON while it arrives. A terminal gets filtered text and no binary content.
struct BodyPresenter {
    /// How content is written.
    enum Manner: Hashable, Sendable {
        /// Byte for byte; filtered on a terminal.
        case verbatim
        /// For people: JSON with line breaks if `breaksLines`, coloured if the style has colours.
        case pretty(breaksLines: Bool)
        /// For people, with each line as a separate JSON value.
        case lines(breaksLines: Bool)
    }

    private enum Phase {
        /// No content has arrived yet.
        case beginning
        /// Content is written as it is.
        case copying
        /// Content is formatted as JSON.
        case painting(JSONPainter)
        /// Binary content is skipped; `byteCount` bytes so far.
        case skipping(byteCount: Int)
    }

    private let sink: ProcessContext.Sink
    private let style: Style
    /// A painter in its initial state, which is copied for each JSON value; nil if content is not painted.
    private let initialPainter: JSONPainter?
    /// Whether each line is a separate JSON value.
    private let splitsLines: Bool
    private var writer: ProcessContext.ContentWriter
    private var phase = Phase.beginning

    /// Creates a presenter for one body.
    ///
    /// - Parameters:
    ///   - sink: The standard output.
    ///   - manner: How content is written.
    ///   - style: The colours.
    ///   - type: The value of `Content-Type`, if there is one.
    init(sink: ProcessContext.Sink, manner: Manner, style: Style, type: String?) {
        self.sink = sink
        self.style = style
        writer = ProcessContext.ContentWriter(sink)
        let typeWithoutParameters = (type ?? "").split(separator: ";").first ?? ""
        let mediaType = typeWithoutParameters.lowercased().trimmingTrailingSpaces
        let isJSONLines = mediaType.hasSuffix("ndjson") || mediaType.hasSuffix("jsonl")
        if case .lines = manner { splitsLines = true } else { splitsLines = isJSONLines }
        let isJSON = isJSONLines || mediaType.hasSuffix("json")
        switch manner {
        case .pretty(let breaksLines) where isJSON, .lines(let breaksLines) where isJSON:
            initialPainter = JSONPainter(
                style: style, breaksLines: breaksLines, keepsLeadingBlanks: splitsLines)
        case .verbatim, .pretty, .lines: initialPainter = nil
        }
    }

    /// Writes the next bytes of the content. Throws the errors of the sink.
    mutating func write(_ data: Data) throws {
        switch phase {
        case .beginning:
            if sink.isTerminal, Self.isBinary(data) {
                phase = .skipping(byteCount: data.count)
            } else {
                phase = initialPainter.map(Phase.painting) ?? .copying
                // The call writes the data in the new phase.
                try write(data)
            }
        case .copying:
            try writer.writeContent(data)
            try writer.flush()
        case .painting(var painter):
            // `phase` is changed for the loop, so that the painter has one owner and the loop does not copy its buffer.
            phase = .copying
            for octet in data { try paint(octet, with: &painter) }
            phase = .painting(painter)
            try writer.flush()
        case .skipping(let count): phase = .skipping(byteCount: count + data.count)
        }
    }

    /// Writes an octet through a painter, which a line feed resets if each line is a separate value.
    private mutating func paint(_ octet: UInt8, with painter: inout JSONPainter) throws {
        let endsValue = splitsLines && octet == UInt8(ascii: "\n")
        guard endsValue, let initialPainter else {
            return try painter.write(octet, to: &writer)
        }
        try painter.finish(to: &writer)
        try writer.writeContent(octet)
        painter = initialPainter
    }

    /// Completes the output, at the end of the body.
    mutating func finish() throws {
        switch phase {
        // There was no content.
        case .beginning: return
        // Content that is not formatted gets a line feed only on a terminal, before the next prompt.
        case .copying: try writer.finish(addsLineFeed: sink.isTerminal)
        case .painting(var painter):
            try painter.finish(to: &writer)
            try writer.finish(addsLineFeed: true)
        case .skipping(let count):
            let message =
                "(\(ByteText.size(Int64(count))) that are no text: save them with -o FILE, or use a pipe)"
            try sink.print("\(style.paint(message, .faint))\n")
        }
    }

    /// Whether content is binary, judging by its first 4 KiB.
    ///
    /// The content is binary if this part has a NUL. It is also binary if the part is not UTF-8, apart from a character cut off
    /// at its end, and more than one octet in 50 of the part is a control character.
    static func isBinary(_ data: Data) -> Bool {
        let start = data.prefix(4096)
        if start.contains(0) { return true }
        // The content is text if it is UTF-8 without the last octets: at most three octets of a character are before the cut.
        for partialCount in 0..<min(4, start.count + 1)
        where String(validating: start.dropLast(partialCount), as: UTF8.self) != nil {
            return false
        }
        // Tabs, line ends, escapes and form feeds also occur in text.
        let textControls: [UInt8] = [0x09, 0x0A, 0x0D, 0x1B, 0x0C]
        let binaryControls = start.filter { $0 < 0x20 && !textControls.contains($0) }
        return binaryControls.count * 50 > start.count
    }
}
