// SPDX-License-Identifier: MIT

/// Decompresses the messages of one direction of a WebSocket connection (RFC 7692 §7.2.2).
///
/// The window is always the maximum, which suffices for any negotiated window. One thread may use the decompressor at a time.
/// After an error the connection has to be closed, because later messages may refer to the invalid one. The decompressor uses at
/// most 48 KiB of memory besides its buffer and its output.
package final class MessageInflater {
    /// The maximum number of bytes of memory for zlib's state and window, as in `InflateDecoder`.
    private static let memoryLimit = 48 << 10

    private var stream = InflateStream(.raw, memoryLimit: memoryLimit)
    /// Whether a message may refer to earlier ones (context takeover).
    private let keepsContext: Bool
    /// The buffer to which zlib writes.
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)

    /// Creates a decompressor for one direction of a connection.
    ///
    /// - Parameter keepsContext: Whether the peer's messages may refer to earlier ones.
    package init(keepsContext: Bool = true) { self.keepsContext = keepsContext }

    /// A message that calls of `resume` decompress in several steps.
    package struct Unfinished: Sendable {
        fileprivate let compressed: [UInt8]
        /// The number of octets of `compressed` that have been decompressed.
        fileprivate var consumed = 0
        /// The decompressed octets.
        fileprivate var output: [UInt8] = []

        /// Creates a message that is not decompressed.
        package init(_ compressed: [UInt8]) { self.compressed = compressed }
    }

    /// The maximum number of octets of input that one call of `resume` reads. It bounds the work of a call, because the peer
    /// decides how much work the input causes.
    private static let inputPerCall = 16 << 10

    /// Decompresses a whole message. Returns its octets, at most `limit`.
    ///
    /// - Throws: ``CodingError/outputLimit(coding:limit:)`` for more octets than `limit`, and the error of invalid data.
    package func inflate(_ message: Span<UInt8>, limit: Int) throws(CodingError) -> [UInt8] {
        var compressed: [UInt8] = []
        compressed.reserveCapacity(message.count)
        for index in message.indices { compressed.append(message[index]) }
        var message = Unfinished(compressed)
        while true {
            if let output = try resume(&message, limit: limit) { return output }
        }
    }

    /// Decompresses the next octets of a message. Returns the octets of the whole message when it is complete; until then nil.
    ///
    /// - Throws: ``CodingError/outputLimit(coding:limit:)`` for more octets than `limit`, and the error of invalid data.
    package func resume(_ message: inout Unfinished, limit: Int) throws(CodingError) -> [UInt8]? {
        let limit = max(limit, 0)
        let compressed = message.compressed
        let start = message.consumed
        let end = min(start + Self.inputPerCall, compressed.count)
        // The array is moved out of the message while zlib's output is appended, so that it has one reference and is not copied.
        var output: [UInt8] = []
        swap(&output, &message.output)
        try inflate(compressed.span.extracting(start..<end), at: start, limit: limit, into: &output)
        guard end == compressed.count else {
            message.consumed = end
            swap(&output, &message.output)
            return nil
        }
        // The marker, which the sender has removed, ends the last block (RFC 7692 §7.2.2).
        let flushMarker = MessageDeflater.flushMarker
        try inflate(flushMarker.span, at: end, limit: limit, into: &output)
        // A message that ends inside a block is incomplete.
        guard stream.isBetweenBlocks else { throw .cutShort(coding: .deflate, offset: end) }
        if !keepsContext { stream.reset(.raw) }
        return output
    }

    /// Decompresses `input`, which begins at `offset` in the message, and appends the result to `output`.
    private func inflate(
        _ input: Span<UInt8>, at offset: Int, limit: Int, into output: inout [UInt8]
    ) throws(CodingError) {
        var consumed = 0
        while true {
            let allowedCount = limit - output.count
            // Space for one octet more than is allowed shows whether the message exceeds the limit.
            let room = allowedCount < buffer.count ? allowedCount + 1 : buffer.count
            var span = buffer.mutableSpan
            let step = stream.step(input.extracting(consumed...), into: &span, at: 0, room: room)
            consumed += step.consumed
            guard step.produced <= allowedCount else { throw .outputLimit(coding: .deflate, limit: limit) }
            output += buffer[..<step.produced]
            switch step.outcome {
            case .running:
                // zlib has read all input and has no more output.
                if consumed == input.count, step.produced < room { return }
            case .ended:
                // A sender may mark a block as the last one, and continue with another (§7.2.3.4).
                stream.reset(.raw)
                if consumed == input.count { return }
            case .failed(let fault, let unread):
                // Not negative: zlib may count octets as unread that it has read before this message.
                throw .corrupt(
                    coding: .deflate, offset: max(0, offset + consumed - unread), fault: fault)
            case .outOfMemory:
                throw .memoryLimit(coding: .deflate, limit: Self.memoryLimit)
            }
        }
    }
}
