// SPDX-License-Identifier: MIT

/// Compresses the messages of one direction of a WebSocket connection (RFC 7692 §7.2.1): raw deflate with a flush at the end of
/// each message. The marker of the flush is removed.
///
/// `DeflateEncoder` encodes the bodies of HTTP. One thread may use the compressor at a time. It uses at most 272 KiB of memory
/// for messages of any size.
package final class MessageDeflater {
    /// The octets at the end of a flush, which are not sent: the length of an empty stored block, and its complement.
    static let flushMarker: InlineArray<4, UInt8> = [0x00, 0x00, 0xFF, 0xFF]
    /// The number of bytes of memory that zlib needs for a 32 KiB window at its default memory level, for error messages.
    private static let requiredMemory = 272 << 10

    private var stream: DeflateStream
    /// Whether a message may refer to earlier ones (context takeover).
    private let keepsContext: Bool
    /// The buffer to which zlib writes.
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)

    /// Creates a compressor for one direction of a connection.
    ///
    /// - Parameters:
    ///   - windowBits: The negotiated window, 9 to 15. With 8, which zlib does not support, messages are sent uncompressed.
    ///   - keepsContext: Whether a message may refer to earlier ones.
    ///   - level: The compression effort.
    /// - Throws: ``CodingError/memoryLimit(coding:limit:)`` if the system provides no memory.
    package init(
        windowBits: Int = 15, keepsContext: Bool = true, level: CompressionLevel = .standard
    ) throws(CodingError) {
        precondition((9...15).contains(windowBits), "a window of \(windowBits) bits")
        let stream = DeflateStream(.raw, level: CInt(level.rawValue), rawWindowBits: CInt(windowBits))
        guard let stream else { throw .memoryLimit(coding: .deflate, limit: Self.requiredMemory) }
        self.stream = stream
        self.keepsContext = keepsContext
    }

    /// Appends the compressed form of a whole message to `output`.
    package func deflate(_ message: Span<UInt8>, into output: inout [UInt8]) {
        // zlib writes nothing for a flush without input. RFC 7692 §7.2.3.6 encodes an empty message as the octet 0.
        guard !message.isEmpty else { return output.append(0) }
        var consumed = 0
        while consumed < message.count {
            consumed += step(message.extracting(consumed...), flush: .none, into: &output).consumed
        }
        // While zlib fills the whole buffer, it may have more output.
        let noInput: [UInt8] = []
        var flushedCount = buffer.count
        while flushedCount == buffer.count {
            flushedCount = step(noInput.span, flush: .toByteBoundary, into: &output).produced
        }
        output.removeLast(Self.flushMarker.count)
        if !keepsContext { stream.reset() }
    }

    /// Calls zlib once, and appends its output.
    private func step(
        _ input: Span<UInt8>, flush: DeflateStream.Flush, into output: inout [UInt8]
    ) -> (consumed: Int, produced: Int) {
        var span = buffer.mutableSpan
        let step = stream.step(input, into: &span, at: 0, flush: flush)
        output += buffer[..<step.produced]
        return (step.consumed, step.produced)
    }
}
