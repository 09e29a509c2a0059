// SPDX-License-Identifier: MIT

package import LupineCoding
package import LupineHTTP

/// Decodes the content codings of one response (RFC 9110 §8.4). A sink owns it, and uses it on the loop of its connection.
///
/// Each call of `decode` produces at most one piece. The remaining input stays encoded, so that the expansion of a small body
/// is never held as a whole.
package struct ContentDecoder {
    /// The maximum number of bytes in a piece.
    package static let pieceSize = 64 * 1024

    /// Encoded bytes to decode when the consumer accepts content again; nil if the decoder has consumed all input.
    package var pendingInput: [UInt8]?

    private let stream: CodingStream
    /// Limits the decoding in one turn of the loop, so that other connections are not delayed.
    private var allowance = TurnAllowance()
    /// The buffer that the decoder writes to; empty until content is decoded.
    private var outputBuffer: [UInt8] = []

    /// Returns the content codings of a response that can be decoded. The list is empty
    /// - if one of the codings is unknown, because then none can be decoded;
    /// - for a part of encoded content (206);
    /// - if the response has no content.
    package static func codings(of head: ResponseHead, framing: BodyFraming) -> [ContentCoding] {
        switch framing {
        case .none, .handover: return []
        case .length, .chunked, .untilClose: break
        }
        guard head.status.code != 206, head.fields.contains(.contentEncoding) else { return [] }
        return (try? ContentCoding.list(head.fields.values(of: .contentEncoding))) ?? []
    }

    /// Creates a decoder of these codings, in the order in which they were applied. `limit` bounds the expansion.
    package init(_ codings: [ContentCoding], limit: ExpansionLimit) {
        stream = CodingStream(codings, limit: limit)
    }

    /// The result of one call of `decode`. `consumed` is the number of bytes of the input that were decoded.
    package enum DecodeResult: Sendable {
        /// All input was decoded, and all its output was delivered.
        case inputConsumed
        /// The piece is full.
        case pieceFull(consumed: Int)
        /// The decoder has reached its limit for one call.
        case limitReached(consumed: Int)
        case failed(CodingError)
    }

    /// Decodes from the front of `bytes` until they are consumed, the piece is full or the decoder reaches its limit for one
    /// call.
    ///
    /// - Parameters:
    ///   - bytes: The encoded input.
    ///   - room: The maximum number of bytes to produce; at most `pieceSize`.
    ///   - deliver: Called with the output, unless decoding fails or `room` is 0.
    package mutating func decode(
        _ bytes: Span<UInt8>, room: Int = pieceSize, _ deliver: (Span<UInt8>) -> Void
    ) -> DecodeResult {
        guard room > 0 else { return .pieceFull(consumed: 0) }
        if outputBuffer.isEmpty { outputBuffer = [UInt8](repeating: 0, count: Self.pieceSize) }
        // The buffer is moved out of `self` while the decoder writes to it, and `defer` moves it back. Neither copies it.
        var buffer: [UInt8] = []
        swap(&buffer, &outputBuffer)
        defer { swap(&buffer, &outputBuffer) }
        do throws(CodingError) {
            var bufferSpan = buffer.mutableSpan
            var output = bufferSpan._mutatingExtracting(first: room)
            let progress = try stream.decode(bytes, into: &output)
            deliver(buffer.span.extracting(first: progress.produced))
            if progress.status != .needsRoom { return .inputConsumed }
            return progress.produced == room
                ? .pieceFull(consumed: progress.consumed) : .limitReached(consumed: progress.consumed)
        } catch { return .failed(error) }
    }

    /// Counts a result that has filled a piece, and returns whether the allowance for this turn of the loop is spent. After other
    /// results, only the time is checked. Call once after each call of `decode`.
    package mutating func isAllowanceSpent(after result: DecodeResult, on loop: EventLoop) -> Bool {
        if case .pieceFull = result { return allowance.isSpent(on: loop) }
        return allowance.isSpent(on: loop, counting: false)
    }

    /// Returns an error if the encoded content has ended before it was complete; otherwise nil. Nil also if input is pending,
    /// because the consumer has accepted no more.
    package mutating func finish() -> CodingError? {
        guard pendingInput == nil else { return nil }
        do throws(CodingError) {
            try stream.finish()
            return nil
        } catch { return error }
    }
}
