// SPDX-License-Identifier: MIT

public import Foundation

extension ProcessContext {
    /// An output. All output to a terminal goes through here, with untrusted text passed through a `TerminalFilter`; no other
    /// code can write to it.
    public struct Sink: Sendable {
        /// Whether it is a terminal.
        public var isTerminal: Bool
        /// Returns the current width; called each time, since windows are resized.
        public var columns: @Sendable () -> Int
        /// Whether the terminal uses UTF-8.
        var readsUTF8 = true
        fileprivate let put: @Sendable (Data) throws -> Void

        /// Creates a sink that writes with `write`, which writes all the bytes or throws.
        public init(
            isTerminal: Bool = false, columns: @escaping @Sendable () -> Int = { 80 },
            write: @escaping @Sendable (Data) throws -> Void
        ) {
            self.isTerminal = isTerminal
            self.columns = columns
            put = write
        }

        /// Writes reports and messages. The text is filtered for any sink, since a log may be read on a terminal later. Write
        /// errors are ignored.
        public func say(_ text: TerminalText) { try? put(Data(text.harmless(readsUTF8: readsUTF8))) }

        /// Writes requested output: filtered on a terminal, otherwise unchanged.
        func print(_ text: TerminalText) throws {
            try put(isTerminal ? Data(text.harmless(readsUTF8: readsUTF8)) : Data(text.plain.utf8))
        }
    }

    /// Writes content to a sink in pieces, with the command's own text in between. A value; of the content only an incomplete
    /// character is held back.
    struct ContentWriter: Sendable {
        /// The size at which the buffer is flushed.
        private static let bufferSize = 16 << 10

        private let sink: Sink
        private var filter: TerminalFilter?
        private var buffer: [UInt8] = []
        /// Whether the output so far ends with a line feed, or is empty.
        private(set) var endsInLine = true

        init(_ sink: Sink) {
            self.sink = sink
            filter = sink.isTerminal ? TerminalFilter(keepsLines: true, readsUTF8: sink.readsUTF8) : nil
        }

        /// Writes the command's own text, unfiltered.
        mutating func trusted(_ text: String) throws {
            filter?.finish(into: &buffer)
            buffer += Array(text.utf8)
            try makeRoom()
        }

        /// Writes text with trusted and untrusted pieces.
        mutating func text(_ text: TerminalText) throws {
            guard filter != nil else { return try trusted(text.plain) }
            filter?.finish(into: &buffer)
            buffer += text.harmless(readsUTF8: sink.readsUTF8)
            try makeRoom()
        }

        /// Writes one octet of the content.
        mutating func content(_ octet: UInt8) throws {
            if filter == nil { buffer.append(octet) } else { filter?.take(octet, into: &buffer) }
            try makeRoom()
        }

        /// Writes a piece of the content.
        mutating func content(_ data: Data) throws {
            guard filter == nil else {
                for octet in data { try content(octet) }
                return
            }
            try flush()
            guard let last = data.last else { return }
            endsInLine = last == 0x0A
            try sink.put(data)
        }

        private mutating func makeRoom() throws {
            if buffer.count >= Self.bufferSize { try flush() }
        }

        /// Writes the buffer to the sink.
        mutating func flush() throws {
            guard let last = buffer.last else { return }
            endsInLine = last == 0x0A
            let data = Data(buffer)
            buffer.removeAll(keepingCapacity: true)
            try sink.put(data)
        }

        /// Called at the end of the content. With `line`, a line feed is added if the output does not end with one.
        mutating func finish(line: Bool) throws {
            filter?.finish(into: &buffer)
            try flush()
            guard line, !endsInLine else { return }
            buffer.append(0x0A)
            try flush()
        }
    }
}
