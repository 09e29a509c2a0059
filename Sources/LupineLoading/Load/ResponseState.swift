// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineTLS
import LupineTransport

/// The state of the response of one hop: its content is received from the connection, decoded, joined to pieces, and delivered to
/// the client.
///
/// `NetworkLoad` updates the state under a lock on the connection's loop, and calls the client outside of the lock.
struct ResponseState {
    /// The loop of the exchange.
    var loop: EventLoop?
    /// The results of the connection's TLS handshake; nil without TLS.
    var evidence: PeerEvidence?
    var response: URLResponse?
    var collector = ContentCollector()
    /// Whether the chunks of the body are delivered separately.
    var chunkDelivery = ChunkDelivery.joined
    /// Decodes the content; nil if the content has no codings or is not decoded.
    private(set) var decoder: CodingStream?
    /// Limits the decoding in one turn of the loop, so that other connections are not delayed.
    private var allowance = TurnAllowance()
    /// Encoded bytes to decode when the client resumes; nil if the decoder has consumed all input.
    var pendingInput: [UInt8]?
    /// The file to which decoded content is written; nil if the content goes to the client or is spliced, which means that the
    /// kernel moves it into the file.
    var decodedContentFile: FileTarget?
    /// Whether the content goes into a file, either moved by the kernel or written after decoding.
    var goesToFile = false
    /// The error of decoding the content or writing it to the file.
    var failure: URLError?
    /// Whether the client wants no more of the content.
    var discardsContent = false
    /// The number of bytes that were delivered to the client or the file.
    var deliveredBytes: Int64 = 0
    /// The progress of sending the request's body. `NetworkLoad` sets the length of the body before it sends the request.
    var sendProgress = SendProgress(expectedBytes: 0)
    /// The metrics of the failed attempts after which the request was sent again.
    var earlierAttempts: [ExchangeMetrics] = []

    /// The buffer that the decoder writes to; empty until content is decoded.
    private var outputBuffer: [UInt8] = []

    /// Whether the chunks of a body (RFC 9112 §7.1) are delivered separately.
    enum ChunkDelivery {
        /// Content is joined regardless of chunks: the body has none, it is decoded, or the client does not want them separately.
        case joined
        /// No chunk has arrived, and the client has not been asked.
        case undecided
        /// Each chunk becomes a separate piece, up to a limit for each turn of the loop.
        case separate
    }

    /// Whether content is decoded.
    var isDecoding: Bool { decoder != nil }

    /// Makes the content be decoded with the codings. Called before content arrives.
    mutating func startDecoding(_ codings: [ContentCoding], limit: ExpansionLimit) {
        decoder = CodingStream(codings, limit: limit)
    }

    /// The result of adding content.
    enum AddResult: Sendable {
        /// The content was buffered.
        case buffered
        /// This piece has to be delivered. The added content is the piece itself, or was buffered behind it.
        case piece(Data)
        /// The content was not added, because it has to be decoded.
        case needsDecoding
        /// The content was not added, because the client has to decide first whether it wants separate chunks.
        case undecided
    }

    /// Adds received content to the buffered piece, unless it has to be decoded or the client has to be asked first.
    mutating func add(_ bytes: Span<UInt8>) -> AddResult {
        if isDecoding { return .needsDecoding }
        let piece: Data?
        switch chunkDelivery {
        case .undecided: return .undecided
        case .separate: piece = collector.add(chunk: bytes)
        case .joined:
            piece = collector.hasRoom(for: bytes.count) ? nil : collector.takePiece()
            collector.add(bytes)
        }
        return piece.map(AddResult.piece) ?? .buffered
    }

    /// The result of one call of `decode`. `consumed` is the number of bytes of the input that were decoded.
    enum DecodeResult: Sendable {
        /// All input was decoded, and the output is buffered.
        case inputConsumed
        /// The buffered piece is full.
        case pieceFull(consumed: Int)
        /// The decoder has reached its limit for one call.
        case limitReached(consumed: Int)
        case failed(CodingError)
    }

    /// Decodes from the front of `bytes` until they are consumed, a piece is full or the decoder reaches its limit for one call.
    mutating func decode(_ bytes: Span<UInt8>) -> DecodeResult {
        guard let decoder else { return .inputConsumed }
        let room = collector.room
        guard room > 0 else { return .pieceFull(consumed: 0) }
        if outputBuffer.isEmpty {
            outputBuffer = [UInt8](repeating: 0, count: ContentCollector.pieceLimit)
        }
        // The buffer is moved out of `self` while the decoder writes to it, and `defer` moves it back. Neither copies it.
        var buffer: [UInt8] = []
        swap(&buffer, &outputBuffer)
        defer { swap(&buffer, &outputBuffer) }
        do throws(CodingError) {
            var bufferSpan = buffer.mutableSpan
            // No more than fits into the piece.
            var output = bufferSpan._mutatingExtracting(first: room)
            let progress = try decoder.decode(bytes, into: &output)
            collector.add(buffer.span.extracting(first: progress.produced))
            if progress.status != .needsRoom { return .inputConsumed }
            return collector.room == 0
                ? .pieceFull(consumed: progress.consumed) : .limitReached(consumed: progress.consumed)
        } catch { return .failed(error) }
    }

    /// Counts a result that has filled a piece, and returns whether the allowance for this turn of the loop is spent. After other
    /// results, only the time is checked. Call once after each call of `decode`.
    mutating func isAllowanceSpent(after result: DecodeResult) -> Bool {
        guard let loop else { return false }
        if case .pieceFull = result { return allowance.isSpent(on: loop) }
        return allowance.isSpent(on: loop, counting: false)
    }

    /// Returns an error if the encoded content has ended before it was complete; otherwise nil. Nil also if input was left,
    /// because the client has paused.
    mutating func finishDecoding() -> CodingError? {
        guard let decoder, pendingInput == nil else { return nil }
        do throws(CodingError) {
            try decoder.finish()
            return nil
        } catch { return error }
    }
}

/// Decides when the progress of sending a body is reported: at most every 50 ms, and when the whole body has been sent (U-7.7).
/// Each report is greater than the one before.
struct SendProgress: Sendable {
    /// The length of the body; nil if unknown.
    let expectedBytes: Int64?
    private var sentBytes: Int64 = 0
    private var reportedBytes: Int64 = 0
    private var lastReportTime: Instant?

    init(expectedBytes: Int64?) { self.expectedBytes = expectedBytes }

    /// Sets the counts to 0, because the body is sent again from its beginning.
    mutating func restart() { self = SendProgress(expectedBytes: expectedBytes) }

    /// Records how many bytes have been sent in all. Returns the number to report at once; nil if nothing has to be reported yet.
    mutating func update(_ total: Int64, at now: Instant) -> Int64? {
        sentBytes = total
        if total != expectedBytes, let lastReportTime, now < lastReportTime + Self.reportInterval {
            return nil
        }
        lastReportTime = now
        return takeUnreported()
    }

    /// Returns the number of bytes sent and marks it as reported. Returns nil if it has been reported before.
    mutating func takeUnreported() -> Int64? {
        guard sentBytes > reportedBytes else { return nil }
        reportedBytes = sentBytes
        return sentBytes
    }

    /// The minimum time between two reports, except for the last one.
    private static let reportInterval = Interval.milliseconds(50)
}
