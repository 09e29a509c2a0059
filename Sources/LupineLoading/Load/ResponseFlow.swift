// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineTLS
import LupineTransport

/// The state of one hop's response between the connection and the client.
///
/// Bookkeeping only: `NetworkLoad` updates it on the loop and calls the client outside of its lock.
struct ResponseFlow {
    /// The loop of the exchange.
    var loop: EventLoop?
    /// What the TLS handshake of the connection has established.
    var evidence: PeerEvidence?
    var response: URLResponse?
    var gatherer = ContentCollector()
    /// How the chunks of the transfer coding are treated.
    var chunks = Chunks.none
    /// Decodes the content; nil if it has no codings or keeps them.
    private(set) var decoder: CodingStream?
    private var allowance = TurnAllowance()
    /// Encoded bytes that wait until the client resumes; nil if the decoder has consumed all its input.
    var waiting: [UInt8]?
    /// The file that content is written to if it has to be decoded first.
    var file: FileTarget?
    /// Whether the content goes into a file, spliced or written.
    var isSaved = false
    /// The error that the content has caused.
    var failure: URLError?
    /// Whether the rest of the content is not wanted.
    var hasEnough = false
    /// The number of bytes delivered.
    var delivered: Int64 = 0
    var progress = SendProgress(expected: 0)
    /// The metrics of earlier attempts.
    var earlier: [ExchangeMetrics] = []

    private var scratch: [UInt8] = []

    /// How the boundaries of a body's chunks are treated.
    enum Chunks {
        /// The body has no chunks, or a decoder makes their boundaries meaningless.
        case none
        /// The client has not been asked yet.
        case undecided
        /// Each chunk is a piece of its own, up to a limit per turn.
        case kept
    }

    /// Whether content is decoded.
    var decodes: Bool { decoder != nil }

    /// Decodes the content that is added from here on.
    mutating func decode(_ codings: [ContentCoding], limit: ExpansionLimit) {
        decoder = CodingStream(codings, limit: limit)
    }

    /// The outcome of adding content.
    enum Addition: Sendable {
        case gathered
        /// The content was buffered, or is itself this piece, which is to be delivered.
        case piece(Data)
        /// The content was not added: it has to be decoded.
        case coded
        /// The content was not added: the client has to decide first whether chunks are kept.
        case undecided
    }

    /// Adds received content.
    mutating func add(_ bytes: Span<UInt8>) -> Addition {
        if decodes { return .coded }
        let piece: Data?
        switch chunks {
        case .undecided: return .undecided
        case .kept: piece = gatherer.add(chunk: bytes)
        case .none:
            piece = gatherer.hasRoom(for: bytes.count) ? nil : gatherer.take()
            gatherer.add(bytes)
        }
        return piece.map(Addition.piece) ?? .gathered
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
        let room = gatherer.room
        guard room > 0 else { return .full(consumed: 0) }
        if scratch.isEmpty { scratch = [UInt8](repeating: 0, count: ContentCollector.pieceLimit) }
        var lent: [UInt8] = []
        swap(&lent, &scratch)
        defer { swap(&lent, &scratch) }
        do throws(CodingError) {
            var whole = lent.mutableSpan
            var space = whole._mutatingExtracting(first: room)
            let progress = try decoder.decode(bytes, into: &space)
            gatherer.add(lent.span.extracting(first: progress.produced))
            if progress.status != .needsRoom { return .done }
            return gatherer.room == 0
                ? .full(consumed: progress.consumed) : .partly(consumed: progress.consumed)
        } catch { return .failed(error) }
    }

    /// Whether the allowance for this turn of the loop is spent.
    mutating func hasDecodedEnough(after step: Step) -> Bool {
        guard let loop else { return false }
        if case .full = step { return allowance.isSpent(on: loop) }
        return allowance.isSpent(on: loop, counting: false)
    }

    /// Checks that the content was complete; returns the error if it was not.
    mutating func finishDecoding() -> CodingError? {
        guard let decoder, waiting == nil else { return nil }
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
    private var told: Int64 = 0
    private var toldAt: Instant?

    init(expected: Int64?) { self.expected = expected }

    /// Starts over, because the body is sent again from its start.
    mutating func restart() { self = SendProgress(expected: expected) }

    /// Records the total sent so far; returns the total to report now, if any.
    mutating func sent(_ total: Int64, at now: Instant) -> Int64? {
        sent = total
        if total != expected, let toldAt, now < toldAt + Self.interval { return nil }
        toldAt = now
        return due()
    }

    /// The total sent so far, if it has not been reported.
    mutating func due() -> Int64? {
        guard sent > told else { return nil }
        told = sent
        return sent
    }

    private static let interval = Interval.milliseconds(50)
}
