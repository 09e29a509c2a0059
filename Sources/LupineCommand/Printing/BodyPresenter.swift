// SPDX-License-Identifier: MIT

internal import Foundation

/// Writes a body to the standard output: unchanged into a pipe or a file, presented for people on a terminal.
///
/// For people JSON is coloured and text filtered, both as they arrive, and binary content is not written to a terminal. A value,
/// used by one transfer.
struct BodyPresenter {
    /// How content is written.
    enum Manner: Hashable, Sendable {
        /// Byte for byte; filtered on a terminal.
        case verbatim
        /// For people: JSON with line breaks if `breaksLines`, coloured if the style has colours.
        case pretty(breaksLines: Bool)
        /// For people, each line on its own.
        case lines(breaksLines: Bool)
    }

    private enum Phase {
        case beginning
        case passing
        case painting(JSONPainter)
        case skipping(Int)
    }

    private let sink: ProcessContext.Sink
    private let style: Style
    /// A fresh painter for one JSON value; nil if content is not painted.
    private let painter: JSONPainter?
    /// Whether each line is a JSON value of its own.
    private let splitsLines: Bool
    private var writer: ProcessContext.ContentWriter
    private var phase = Phase.beginning

    init(sink: ProcessContext.Sink, manner: Manner, style: Style, type: String?) {
        self.sink = sink
        self.style = style
        writer = ProcessContext.ContentWriter(sink)
        let media = (type ?? "").split(separator: ";").first.map { $0.lowercased().trimmingBlanks } ?? ""
        let hasLines = media.hasSuffix("ndjson") || media.hasSuffix("jsonl")
        let breaksLines: Bool?
        switch manner {
        case .verbatim: breaksLines = nil
        case .pretty(let breaks), .lines(let breaks): breaksLines = breaks
        }
        if case .lines = manner { splitsLines = true } else { splitsLines = hasLines }
        let splits = splitsLines
        painter =
            media.hasSuffix("json") || hasLines
            ? breaksLines.map { JSONPainter(style: style, breaksLines: $0, keepsMargin: splits) } : nil
    }

    /// Takes the next piece. Rethrows the sink's errors.
    mutating func take(_ data: Data) throws {
        switch phase {
        case .beginning:
            if sink.isTerminal, Self.isBinary(data) {
                phase = .skipping(data.count)
            } else {
                phase = painter.map(Phase.painting) ?? .passing
                try take(data)
            }
        case .passing:
            try writer.content(data)
            try writer.flush()
        case .painting(var current):
            phase = .passing
            for octet in data { try paint(octet, with: &current) }
            phase = .painting(current)
            try writer.flush()
        case .skipping(let count): phase = .skipping(count + data.count)
        }
    }

    private mutating func paint(_ octet: UInt8, with current: inout JSONPainter) throws {
        guard splitsLines, octet == 0x0A, let painter else { return try current.take(octet, into: &writer) }
        try current.finish(into: &writer)
        try writer.content(octet)
        current = painter
    }

    /// Called at the end of the body.
    mutating func finish() throws {
        switch phase {
        case .beginning: return
        case .passing: try writer.finish(line: sink.isTerminal)
        case .painting(var current):
            try current.finish(into: &writer)
            try writer.finish(line: true)
        case .skipping(let count):
            let note =
                "(\(ByteText.size(Int64(count))) that are no text: save them with -o FILE, or use a pipe)"
            try sink.print("\(style.paint(note, .faint))\n")
        }
    }

    /// Whether content is binary: it has a NUL, is not UTF-8 (apart from a character cut off at the end), or has many control
    /// characters.
    static func isBinary(_ data: Data) -> Bool {
        let head = data.prefix(4096)
        if head.contains(0) { return true }
        for cut in 0..<min(4, head.count + 1)
        where String(validating: head.dropLast(cut), as: UTF8.self) != nil {
            return false
        }
        let odd = head.filter { $0 < 0x20 && ![0x09, 0x0A, 0x0D, 0x1B, 0x0C].contains($0) }
        return odd.count * 50 > head.count
    }
}
