// SPDX-License-Identifier: MIT

/// The bytes of a connection, in and out, whatever lies between them and the wire.
///
/// Today that is a plain socket. It is the seam where a TLS engine goes in: what can be handed to the kernel
/// without a look at it (`isTransparent`) is asked here and nowhere else. It belongs to one loop. Closed, it is at
/// its end and takes nothing.
struct ByteChannel: ~Copyable {
    private var socket: Socket?

    init(_ socket: consuming Socket) { self.socket = consume socket }

    /// Whether files may be sent and received by the kernel alone.
    var isTransparent: Bool { true }

    /// Gives the descriptor back to the system now, whoever still holds the connection.
    mutating func close() { socket = nil }

    /// Reads over the beginning of `buffer`.
    func receive(into buffer: inout MutableSpan<UInt8>) throws(Errno) -> ReadOutcome {
        try socket?.receive(into: &buffer) ?? .end
    }

    /// Writes the beginning of what `framing` holds from `start` on, and of `content` behind it, with one call.
    func send(
        _ framing: [UInt8], from start: Int, _ content: Span<UInt8>
    ) throws(Errno) -> WriteOutcome {
        if start == framing.count { return try socket?.send(content) ?? .wouldBlock }
        let first = framing.span.extracting(droppingFirst: start)
        return try (content.isEmpty ? socket?.send(first) : socket?.send(first, content)) ?? .wouldBlock
    }

    /// Sends up to `count` bytes of `file` from `offset`, which moves along; `end` when the file has no more.
    func send(
        file: borrowing Descriptor, offset: inout Int64, count: Int
    ) throws(Errno) -> ReadOutcome {
        try socket?.send(file: file, offset: &offset, count: count) ?? .wouldBlock
    }

    /// Moves up to `count` bytes that have come into `pipe`.
    func splice(into pipe: borrowing SplicePipe, count: Int) throws(Errno) -> ReadOutcome {
        try socket?.splice(into: pipe, count: count) ?? .end
    }
}

extension Socket {
    fileprivate func splice(into pipe: borrowing SplicePipe, count: Int) throws(Errno) -> ReadOutcome {
        try pipe.fill(from: self, count: count)
    }
}
