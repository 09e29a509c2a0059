// SPDX-License-Identifier: MIT

/// Decompresses the messages of one direction of a WebSocket connection (RFC 7692 §7.2.2).
///
/// The window is always the maximum, which suffices for any negotiated one. Used by one thread at a time. After an error the
/// connection has to be closed: later messages may refer to the invalid one. Holds at most 48 KiB besides its output.
package final class MessageInflater {
    /// The most memory for zlib's state and window, as in `InflateDecoder`.
    private static let memory = 48 << 10

    private var stream = InflateStream(.raw, memoryLimit: memory)
    private let keepsContext: Bool
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)

    /// Creates a decompressor for one direction of a connection.
    ///
    /// - Parameter keepsContext: Whether the peer's messages may refer to earlier ones.
    package init(keepsContext: Bool = true) { self.keepsContext = keepsContext }

    /// A message that is being decompressed.
    package struct Unfinished: Sendable {
        fileprivate let compressed: [UInt8]
        fileprivate var consumed = 0
        fileprivate var output: [UInt8] = []

        /// A message of which nothing is decompressed yet.
        package init(_ compressed: [UInt8]) { self.compressed = compressed }
    }

    /// The most input that one call of `resume` reads, because the peer decides how much work the input causes.
    private static let inputPerCall = 16 << 10

    /// Returns the octets of a whole message, at most `limit`.
    ///
    /// - Throws: ``CodingError/outputLimit(coding:limit:)`` if there are more, and the error of invalid data.
    package func inflate(_ message: Span<UInt8>, limit: Int) throws(CodingError) -> [UInt8] {
        var compressed: [UInt8] = []
        compressed.reserveCapacity(message.count)
        for index in message.indices { compressed.append(message[index]) }
        var message = Unfinished(compressed)
        while true {
            if let output = try resume(&message, limit: limit) { return output }
        }
    }

    /// Continues with a message, and returns its octets when it is complete; nil if there is more to do.
    ///
    /// - Throws: ``CodingError/outputLimit(coding:limit:)`` for more octets than `limit`, and the error of invalid data.
    package func resume(_ message: inout Unfinished, limit: Int) throws(CodingError) -> [UInt8]? {
        let limit = max(limit, 0)
        let compressed = message.compressed
        let start = message.consumed
        let end = min(start + Self.inputPerCall, compressed.count)
        // The output is moved out and back, so that it is not copied.
        var output: [UInt8] = []
        swap(&output, &message.output)
        try inflate(compressed.span.extracting(start..<end), at: start, limit: limit, into: &output)
        guard end == compressed.count else {
            message.consumed = end
            swap(&output, &message.output)
            return nil
        }
        // The marker that the sender removed ends the last block.
        let flushMarker = MessageDeflater.flushMarker
        try inflate(flushMarker.span, at: end, limit: limit, into: &output)
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
            let left = limit - output.count
            // One octet more than is left shows whether the message exceeds the limit.
            let wanted = left < buffer.count ? left + 1 : buffer.count
            var span = buffer.mutableSpan
            let step = stream.step(input.extracting(consumed...), into: &span, at: 0, room: wanted)
            consumed += step.consumed
            guard step.produced <= left else { throw .outputLimit(coding: .deflate, limit: limit) }
            output += buffer[..<step.produced]
            switch step.outcome {
            case .running:
                if consumed == input.count, step.produced < wanted { return }
            case .ended:
                // A sender may mark a block as the last one, and continue with another (§7.2.3.4).
                stream.reset(.raw)
                if consumed == input.count { return }
            case .failed(let fault, let unread):
                throw .corrupt(
                    coding: .deflate, offset: max(0, offset + consumed - unread), fault: fault)
            case .outOfMemory:
                throw .memoryLimit(coding: .deflate, limit: Self.memory)
            }
        }
    }
}
