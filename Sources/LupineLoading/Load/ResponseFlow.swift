// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineTLS
import LupineTransport

/// Where the response of one hop stands on its way from the connection to the client.
///
/// Bookkeeping only: `NetworkLoad` fills it on the loop and calls the client outside.
struct ResponseFlow {
    /// Where the exchange runs.
    var loop: EventLoop?
    /// What the handshake of its connection has shown.
    var evidence: PeerEvidence?
    var response: URLResponse?
    var gatherer = ContentGatherer()
    /// What becomes of the chunks of a transfer coding.
    var chunks = Chunks.none
    /// Undoes the content's codings; nil where it has none or keeps them.
    private(set) var decoder: CodingStream?
    private var allowance = TurnAllowance()
    /// Coded bytes that wait for the client to go on; nil when the decoder has given all it had.
    var waiting: [UInt8]?
    /// Where the content is written, if it has to be looked at on its way into a file.
    var file: FileTarget?
    /// The content goes into a file, either way.
    var isSaved = false
    /// What went wrong with the content.
    var failure: URLError?
    /// Nobody wants the rest.
    var hasEnough = false
    /// Bytes handed on.
    var delivered: Int64 = 0
    var progress = SendProgress(expected: 0)
    /// What came of attempts before this one.
    var earlier: [ExchangeMetrics] = []

    private var scratch: [UInt8] = []

    /// The borders of a body's chunks.
    enum Chunks {
        /// The body has none, or they mean nothing behind a decoder.
        case none
        /// The client has not been asked yet.
        case undecided
        /// Each is a piece of its own, as far as they are not too many.
        case kept
    }

    /// Whether content goes through a decoder.
    var decodes: Bool { decoder != nil }

    /// Content is to be decoded from here on.
    mutating func decode(_ codings: [ContentCoding], limit: ExpansionLimit) {
        decoder = CodingStream(codings, limit: limit)
    }

    /// What has become of content that came.
    enum Addition: Sendable {
        case gathered
        /// It waits, or is the piece; this is to be handed on.
        case piece(Data)
        /// It is to be decoded, and was not added.
        case coded
        /// It was not added: whether chunks are kept is to be decided first.
        case undecided
    }

    /// Content has come.
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

    /// What one step of decoding came to.
    enum Step: Sendable {
        /// All was taken; what it gave is gathered.
        case done
        /// The piece is full; so many bytes were taken.
        case full(consumed: Int)
        /// The decoder has done enough for one step.
        case partly(consumed: Int)
        case failed(CodingError)
    }

    /// Decodes from the front of `bytes` until they are used up, a piece is full or it has been long enough.
    mutating func decodeStep(_ bytes: Span<UInt8>) -> Step {
        guard let decoder else { return .done }
        let room = gatherer.room
        guard room > 0 else { return .full(consumed: 0) }
        if scratch.isEmpty { scratch = [UInt8](repeating: 0, count: ContentGatherer.pieceLimit) }
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

    /// Whether enough was decoded for this turn of the loop.
    mutating func hasDecodedEnough(after step: Step) -> Bool {
        guard let loop else { return false }
        if case .full = step { return allowance.isSpent(on: loop) }
        return allowance.isSpent(on: loop, counting: false)
    }

    /// Looks whether what was decoded is all that there was.
    mutating func finishDecoding() -> CodingError? {
        guard let decoder, waiting == nil else { return nil }
        do throws(CodingError) {
            try decoder.finish()
            return nil
        } catch { return error }
    }
}

/// What has been told of a body that is being sent: seldom, always more than before, and the whole in the end (U-7.7).
struct SendProgress: Sendable {
    /// How much there is to send; nil when nobody knows.
    let expected: Int64?
    private var sent: Int64 = 0
    private var told: Int64 = 0
    private var toldAt: Instant?

    init(expected: Int64?) { self.expected = expected }

    /// The body is sent from its start again.
    mutating func restart() { self = SendProgress(expected: expected) }

    /// So much has gone; says what is to be told now, if anything.
    mutating func sent(_ total: Int64, at now: Instant) -> Int64? {
        sent = total
        if total != expected, let toldAt, now < toldAt + Self.interval { return nil }
        toldAt = now
        return due()
    }

    /// What has gone and has not been told.
    mutating func due() -> Int64? {
        guard sent > told else { return nil }
        told = sent
        return sent
    }

    private static let interval = Interval.milliseconds(50)
}
