// SPDX-License-Identifier: MIT

/// The bytes of a connection, in and out, whatever lies between them and the wire.
///
/// Today that is a plain socket. It is the seam where a TLS engine goes in: what can be handed to the kernel
/// without a look at it (`isTransparent`) is asked here and nowhere else. It belongs to one loop.
struct ByteChannel: ~Copyable {
    /// Nil once it is closed.
    private var socket: Socket?

    init(socket: consuming Socket) { self.socket = consume socket }

    /// Closes the descriptor. Nothing may be read or written afterwards.
    mutating func close() { socket = nil }

    /// Whether files may be sent and received by the kernel alone.
    var isTransparent: Bool { true }

    /// Reads over the beginning of `buffer`.
    func receive(into buffer: inout MutableSpan<UInt8>) throws(Errno) -> ReadOutcome {
        guard let outcome = try socket?.receive(into: &buffer) else { throw .canceled }
        return outcome
    }

    /// Writes the beginning of what `framing` holds from `start` on, and of `content` behind it, with one call.
    func send(
        _ framing: [UInt8], from start: Int, _ content: Span<UInt8>
    ) throws(Errno) -> WriteOutcome {
        guard let outcome = try socket?.send(framing, from: start, content) else { throw .canceled }
        return outcome
    }

    /// Has the kernel write a piece of a file; `offset` moves along.
    func send(
        file: borrowing Descriptor, offset: inout Int64, count: Int
    ) throws(Errno) -> ReadOutcome {
        guard let outcome = try socket?.send(file: file, offset: &offset, count: count) else {
            throw .canceled
        }
        return outcome
    }

    /// Has the kernel move up to `count` bytes that have come into a pipe.
    func fill(_ pipe: borrowing SplicePipe, count: Int) throws(Errno) -> ReadOutcome {
        guard let outcome = try socket?.fill(pipe, count: count) else { throw .canceled }
        return outcome
    }
}

extension Socket {
    fileprivate func send(
        _ framing: [UInt8], from start: Int, _ content: Span<UInt8>
    ) throws(Errno) -> WriteOutcome {
        if start == framing.count { return try send(content) }
        let first = framing.span.extracting(droppingFirst: start)
        return content.isEmpty ? try send(first) : try send(first, content)
    }

    fileprivate func fill(_ pipe: borrowing SplicePipe, count: Int) throws(Errno) -> ReadOutcome {
        try pipe.fill(from: self, count: count)
    }
}
