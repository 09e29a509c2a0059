// SPDX-License-Identifier: MIT

public import Foundation

extension ProcessContext {
    /// Something that is written to. What reaches a terminal goes through here, and what somebody else wrote goes through a
    /// `TerminalFilter` then; nobody else can write.
    public struct Sink: Sendable {
        /// Whether a person looks at it.
        public var isTerminal: Bool
        /// How wide it is now; asked each time, since windows change.
        public var columns: @Sendable () -> Int
        /// Whether the terminal reads UTF-8.
        var readsUTF8 = true
        fileprivate let put: @Sendable (Data) throws -> Void

        /// A sink that is written to by `write`, which takes bytes, all of them, and throws when they cannot be written.
        public init(
            isTerminal: Bool = false, columns: @escaping @Sendable () -> Int = { 80 },
            write: @escaping @Sendable (Data) throws -> Void
        ) {
            self.isTerminal = isTerminal
            self.columns = columns
            put = write
        }

        /// Writes what accompanies a transfer. It is harmless wherever it goes: a log is read on a terminal later. What cannot be
        /// written is lost.
        public func say(_ text: TerminalText) { try? put(Data(text.harmless(readsUTF8: readsUTF8))) }

        /// Writes what was asked for: harmless on a terminal, as it is anywhere else.
        func print(_ text: TerminalText) throws {
            try put(isTerminal ? Data(text.harmless(readsUTF8: readsUTF8)) : Data(text.plain.utf8))
        }
    }

    /// Content on its way to a sink, in pieces, with what the command writes in between. A value; nothing is held but a
    /// character that is not whole.
    struct ContentWriter: Sendable {
        /// So much is put together for one call.
        private static let bufferSize = 16 << 10

        private let sink: Sink
        private var filter: TerminalFilter?
        private var buffer: [UInt8] = []
        /// Whether what was written ends a line, or nothing was.
        private(set) var endsInLine = true

        init(_ sink: Sink) {
            self.sink = sink
            filter = sink.isTerminal ? TerminalFilter(keepsLines: true, readsUTF8: sink.readsUTF8) : nil
        }

        /// Text of the command's own.
        mutating func own(_ text: String) throws {
            filter?.finish(into: &buffer)
            buffer += Array(text.utf8)
            try makeRoom()
        }

        /// Text in which both stand.
        mutating func text(_ text: TerminalText) throws {
            guard filter != nil else { return try own(text.plain) }
            filter?.finish(into: &buffer)
            buffer += text.harmless(readsUTF8: sink.readsUTF8)
            try makeRoom()
        }

        /// An octet of the content.
        mutating func content(_ octet: UInt8) throws {
            if filter == nil { buffer.append(octet) } else { filter?.take(octet, into: &buffer) }
            try makeRoom()
        }

        /// A piece of the content.
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

        /// Writes what is there.
        mutating func flush() throws {
            guard let last = buffer.last else { return }
            endsInLine = last == 0x0A
            let data = Data(buffer)
            buffer.removeAll(keepingCapacity: true)
            try sink.put(data)
        }

        /// The content is over. With `line`, what was written ends a line.
        mutating func finish(line: Bool) throws {
            filter?.finish(into: &buffer)
            try flush()
            guard line, !endsInLine else { return }
            buffer.append(0x0A)
            try flush()
        }
    }
}
