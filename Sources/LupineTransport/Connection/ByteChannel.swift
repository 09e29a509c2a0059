// SPDX-License-Identifier: MIT

/// The bytes of a connection, in and out, whatever lies between them and the wire.
///
/// Today that is a plain socket. It is the seam where a TLS engine goes in: what can be handed to the kernel
/// without a look at it (`isTransparent`) is asked here and nowhere else. It belongs to one loop.
struct ByteChannel: ~Copyable {
    let socket: Socket

    /// Whether files may be sent and received by the kernel alone.
    var isTransparent: Bool { true }

    /// Reads over the beginning of `buffer`.
    func receive(into buffer: inout MutableSpan<UInt8>) throws(Errno) -> ReadOutcome {
        try socket.receive(into: &buffer)
    }

    /// Writes the beginning of what `framing` holds from `start` on, and of `content` behind it, with one call.
    func send(
        _ framing: [UInt8], from start: Int, _ content: Span<UInt8>
    ) throws(Errno) -> WriteOutcome {
        if start == framing.count { return try socket.send(content) }
        let first = framing.span.extracting(droppingFirst: start)
        return content.isEmpty ? try socket.send(first) : try socket.send(first, content)
    }
}
