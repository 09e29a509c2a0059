// SPDX-License-Identifier: MIT

public import Foundation

extension ProcessContext {
    /// An output: the standard output or the standard error. All output to a terminal goes through a sink, and its untrusted text
    /// through a `TerminalFilter`. No other code can write to the terminal.
    public struct Sink: Sendable {
        /// Whether the output is a terminal.
        public var isTerminal: Bool
        /// Returns the current width of the terminal, which changes when the window is resized.
        public var columns: @Sendable () -> Int
        /// Whether the terminal uses UTF-8.
        var readsUTF8 = true
        fileprivate let write: @Sendable (Data) throws -> Void

        /// Creates a sink that writes with `write`, which writes all the bytes or throws.
        public init(
            isTerminal: Bool = false, columns: @escaping @Sendable () -> Int = { 80 },
            write: @escaping @Sendable (Data) throws -> Void
        ) {
            self.isTerminal = isTerminal
            self.columns = columns
            self.write = write
        }

        /// Writes a report or a message, and ignores write errors. The text is filtered for every output, since a log may be read
        /// on a terminal later.
        public func say(_ text: TerminalText) { try? write(Data(text.filtered(readsUTF8: readsUTF8))) }

        /// Writes output that the user has asked for: filtered for a terminal, otherwise unchanged.
        func print(_ text: TerminalText) throws {
            try write(isTerminal ? Data(text.filtered(readsUTF8: readsUTF8)) : Data(text.plain.utf8))
        }
    }

    /// Writes content to a sink as it arrives, with the command's own text in between. The end of the content so far may be an
    /// incomplete character, which the filter stores until the rest arrives.
    struct ContentWriter: Sendable {
        /// The number of octets at which the buffer is flushed.
        private static let bufferSize = 16 << 10

        private let sink: Sink
        /// The filter for content; nil for an output that is not a terminal.
        private var filter: TerminalFilter?
        private var buffer: [UInt8] = []
        /// Whether the flushed output ends with a line feed; also true if nothing was flushed.
        private(set) var endsWithLineFeed = true

        init(_ sink: Sink) {
            self.sink = sink
            filter = sink.isTerminal ? TerminalFilter(keepsLines: true, readsUTF8: sink.readsUTF8) : nil
        }

        /// Writes the command's own text, unfiltered. An incomplete character before it is written as escapes.
        mutating func writeTrusted(_ text: String) throws {
            filter?.finish(to: &buffer)
            buffer += Array(text.utf8)
            try flushIfFull()
        }

        /// Writes a text, whose untrusted parts are filtered for a terminal.
        mutating func writeText(_ text: TerminalText) throws {
            guard filter != nil else { return try writeTrusted(text.plain) }
            filter?.finish(to: &buffer)
            buffer += text.filtered(readsUTF8: sink.readsUTF8)
            try flushIfFull()
        }

        /// Writes one octet of the content.
        mutating func writeContent(_ octet: UInt8) throws {
            if filter == nil { buffer.append(octet) } else { filter?.append(octet, to: &buffer) }
            try flushIfFull()
        }

        /// Writes the next bytes of the content.
        mutating func writeContent(_ data: Data) throws {
            guard filter == nil else {
                for octet in data { try writeContent(octet) }
                return
            }
            // Unfiltered content goes to the sink without a copy, after what is in the buffer.
            try flush()
            guard let last = data.last else { return }
            endsWithLineFeed = last == 0x0A
            try sink.write(data)
        }

        /// Flushes the buffer if it has reached its size.
        private mutating func flushIfFull() throws {
            if buffer.count >= Self.bufferSize { try flush() }
        }

        /// Writes the buffer to the sink.
        mutating func flush() throws {
            guard let last = buffer.last else { return }
            endsWithLineFeed = last == 0x0A
            let data = Data(buffer)
            buffer.removeAll(keepingCapacity: true)
            try sink.write(data)
        }

        /// Writes what the filter and the buffer still have, at the end of the content. With `addsLineFeed`, adds a line feed if
        /// the output does not end with one.
        mutating func finish(addsLineFeed: Bool) throws {
            filter?.finish(to: &buffer)
            try flush()
            guard addsLineFeed, !endsWithLineFeed else { return }
            buffer.append(0x0A)
            try flush()
        }
    }
}
