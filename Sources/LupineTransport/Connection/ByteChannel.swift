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

    /// Writes the beginning of two pieces with one call.
    func send(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> WriteOutcome {
        if second.isEmpty { return try socket.send(first) }
        if first.isEmpty { return try socket.send(second) }
        return try socket.send(first, second)
    }
}
