// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineTLS
import LupineTransport

/// The state of one hop's response between the connection and the client.
///
/// `NetworkLoad` updates it under a lock on the loop, and calls the client outside of the lock.
struct ResponseFlow {
    /// The loop of the exchange.
    var loop: EventLoop?
    /// The results of the connection's TLS handshake; nil without TLS.
    var evidence: PeerEvidence?
    var response: URLResponse?
    var collector = ContentCollector()
    /// How the boundaries of the chunks are treated.
    var chunks = Chunks.none
    /// Decodes the content; nil if the content has no codings or is not decoded.
    private(set) var decoder: CodingStream?
    private var allowance = TurnAllowance()
    /// Encoded bytes to decode when the client resumes; nil if the decoder has consumed all input.
    var pendingInput: [UInt8]?
    /// The file to which decoded content is written; nil if the content goes to the client or is spliced.
    var file: FileTarget?
    /// Whether the content goes into a file, either spliced by the kernel or written after decoding.
    var goesToFile = false
    /// The error of decoding the content or writing it to the file.
    var failure: URLError?
    /// Whether the client wants no more of the content.
    var discardsContent = false
    /// The number of bytes that were delivered to the client or the file.
    var delivered: Int64 = 0
    /// Replaced by that of the request's body before the request is sent.
    var progress = SendProgress(expected: 0)
    /// The metrics of the attempts that were replayed.
    var earlierAttempts: [ExchangeMetrics] = []

    /// The buffer that the decoder writes to; empty until content is decoded.
    private var scratch: [UInt8] = []

    /// How the boundaries of a body's chunks are treated.
    enum Chunks {
        /// The body has no chunks, or a decoder makes their boundaries meaningless.
        case none
        /// No chunk has arrived, and the client has not been asked.
        case undecided
        /// Each chunk becomes a separate piece, up to a limit for each turn of the loop.
        case separate
    }

    /// Whether content is decoded.
    var isDecoding: Bool { decoder != nil }

    /// Starts to decode the content with the codings.
    mutating func decode(_ codings: [ContentCoding], limit: ExpansionLimit) {
        decoder = CodingStream(codings, limit: limit)
    }

    /// The outcome of adding content.
    enum Addition: Sendable {
        /// The content was buffered.
        case buffered
        /// The content was buffered or is the piece itself. The piece has to be delivered.
        case piece(Data)
        /// The content was not added, because it has to be decoded.
        case needsDecoding
        /// The content was not added, because the client has to decide first whether it wants separate chunks.
        case undecided
    }

    /// Adds received content.
    mutating func add(_ bytes: Span<UInt8>) -> Addition {
        if isDecoding { return .needsDecoding }
        let piece: Data?
        switch chunks {
        case .undecided: return .undecided
        case .separate: piece = collector.add(chunk: bytes)
        case .none:
            piece = collector.hasRoom(for: bytes.count) ? nil : collector.take()
            collector.add(bytes)
        }
        return piece.map(Addition.piece) ?? .buffered
    }

    /// The outcome of one decoding step.
    enum Step: Sendable {
        /// The input was consumed, and the output is buffered.
        case done
        /// The piece is full; `consumed` bytes of the input were used.
        case full(consumed: Int)
        /// The decoder has reached its limit for one step.
        case partly(consumed: Int)
        case failed(CodingError)
    }

    /// Decodes from the front of `bytes` until they are consumed, a piece is full or the decoder reaches its limit for one
    /// step.
    mutating func decodeStep(_ bytes: Span<UInt8>) -> Step {
        guard let decoder else { return .done }
        let room = collector.room
        guard room > 0 else { return .full(consumed: 0) }
        if scratch.isEmpty { scratch = [UInt8](repeating: 0, count: ContentCollector.pieceLimit) }
        // Taken out of `self` while it is written to, and put back by `defer`; neither copies it.
        var lent: [UInt8] = []
        swap(&lent, &scratch)
        defer { swap(&lent, &scratch) }
        do throws(CodingError) {
            var whole = lent.mutableSpan
            var space = whole._mutatingExtracting(first: room)
            let progress = try decoder.decode(bytes, into: &space)
            collector.add(lent.span.extracting(first: progress.produced))
            if progress.status != .needsRoom { return .done }
            return collector.room == 0
                ? .full(consumed: progress.consumed) : .partly(consumed: progress.consumed)
        } catch { return .failed(error) }
    }

    /// Counts a step that has filled a piece, and returns whether the allowance for this turn of the loop is spent. After other
    /// steps only the time is checked. Call once after each step.
    mutating func isAllowanceSpent(after step: Step) -> Bool {
        guard let loop else { return false }
        if case .full = step { return allowance.isSpent(on: loop) }
        return allowance.isSpent(on: loop, counting: false)
    }

    /// Returns an error if the encoded content ended before it was complete; otherwise nil.
    mutating func finishDecoding() -> CodingError? {
        guard let decoder, pendingInput == nil else { return nil }
        do throws(CodingError) {
            try decoder.finish()
            return nil
        } catch { return error }
    }
}

/// Decides when the progress of sending a body is reported: at most every 50 ms, always increasing, and the total at the end
/// (U-7.7).
struct SendProgress: Sendable {
    /// The length of the body; nil if unknown.
    let expected: Int64?
    private var sent: Int64 = 0
    private var reported: Int64 = 0
    private var reportedAt: Instant?

    init(expected: Int64?) { self.expected = expected }

    /// Starts over, because the body is sent again from its beginning.
    mutating func restart() { self = SendProgress(expected: expected) }

    /// Records how many bytes have been sent in all. Returns the number to report now; nil if no report is due.
    mutating func update(_ total: Int64, at now: Instant) -> Int64? {
        sent = total
        if total != expected, let reportedAt, now < reportedAt + Self.interval { return nil }
        reportedAt = now
        return takeUnreported()
    }

    /// Returns the number of bytes sent, and marks it as reported; nil if it has been reported before.
    mutating func takeUnreported() -> Int64? {
        guard sent > reported else { return nil }
        reported = sent
        return sent
    }

    private static let interval = Interval.milliseconds(50)
}
