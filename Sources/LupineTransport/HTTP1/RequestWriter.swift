// SPDX-License-Identifier: MIT

import LupineHTTP

/// The sending of one request: what is sent next, how fast, and how much the kernel has accepted.
///
/// It decides and records. The connection asks for the `next` step, performs it on the channel, and reports the result. After an
/// upgrade, the writer has the bytes of the new protocol.
struct RequestWriter {
    /// What is to be sent next.
    enum Step {
        /// Waiting framing, without content.
        case framing
        /// Bytes in memory from an index on, and the framing before them.
        case bytes([UInt8], from: Int)
        /// The same for bytes that the transport does not own.
        case region(any OutgoingRegion, from: Int)
        /// `remaining` bytes of a file from `offset` on. No framing waits.
        case file(FileSource, offset: Int64, remaining: Int64)
        /// Waiting framing, if there is any; then the source must be asked for a piece.
        case stream(any ContentSource)
        /// Nothing: the source has been asked for a piece and has not answered.
        case nothing
        /// Nothing: all content has been sent. `isFramed` says whether the end of the request is in the output already.
        case end(isFramed: Bool)
    }

    /// The framing and content that are being sent.
    private var feed = ContentFeed()
    /// The limit of sent content; nil without a limit.
    private var rate: RateLimit?
    /// The announced length of content that a source supplies; nil if it is unknown.
    private var sourceLength: Int64?
    /// Whether the codec has not been asked for the framing of the request's end.
    private var needsEnd = false
    /// Whether the kernel has accepted a byte of the request.
    private(set) var hasBegun = false

    /// The bytes that are sent before content, of which those before the index `outputStart` have been sent.
    var output: [UInt8] { feed.output }
    var outputStart: Int { feed.outputStart }
    /// Whether some of them wait.
    var hasOutput: Bool { feed.hasOutput }
    /// The number of those that wait.
    var waitingOctets: Int { feed.waitingOctets }
    /// The number of octets of content that have been sent.
    var contentOctetsSent: Int64 { feed.contentOctetsSent }
    /// Whether content has a rate limit.
    var isLimited: Bool { rate != nil }
    /// The source that has been asked for a piece and has not answered; nil if there is none.
    var askedSource: (any ContentSource)? {
        if case .awaiting(let source) = feed.state { source } else { nil }
    }

    // MARK: what is sent

    /// Begins a request, whose head is in the output; the last one has been dropped with `clear`. `hasContent` says whether the
    /// request needs an end after the head.
    mutating func begin(hasContent: Bool, rate: RateLimit?) {
        needsEnd = hasContent
        self.rate = rate
        sourceLength = nil
        hasBegun = false
    }

    /// Moves the output out, so that the codec can append to it. The caller puts it back.
    mutating func takeOutput() -> [UInt8] {
        var output: [UInt8] = []
        swap(&output, &feed.output)
        return output
    }

    /// Puts the output back.
    mutating func putBack(output: inout [UInt8]) { swap(&output, &feed.output) }

    /// Adds the content that follows the output; the pieces of a stream are added when they arrive. Returns the number of octets,
    /// which need framing; nil if none do.
    mutating func add(_ content: OutgoingContent) -> Int? {
        switch content {
        case .none: feed.state = .done
        case .bytes(let bytes):
            feed.state = bytes.isEmpty ? .done : .bytes(bytes, from: 0)
            if !bytes.isEmpty { return bytes.count }
        case .region(let region):
            feed.state = region.count == 0 ? .done : .region(region, from: 0)
            if region.count > 0 { return region.count }
        case .file(let file):
            feed.state = file.count == 0 ? .done : .file(file, offset: file.offset, remaining: file.count)
            if file.count > 0 { return Int(clamping: file.count) }
        case .stream(let source, let length):
            feed.state = .stream(source)
            sourceLength = length
        }
        return nil
    }

    /// Adds a piece of content, which is not empty, from the source that was asked for it.
    mutating func add(_ piece: [UInt8], from source: any ContentSource) {
        feed.state = .piece(piece, from: 0, source)
    }

    /// Records that the output contains the end of the request.
    mutating func addEnd() {
        feed.state = .done
        needsEnd = false
    }

    /// Adds bytes of the protocol after an upgrade.
    mutating func add(upgraded bytes: [UInt8]) { feed.append(bytes) }

    /// Drops what waits to be sent, and the limit. Keeps a small buffer for the next head.
    mutating func clear() {
        feed.clear()
        rate = nil
    }

    // MARK: sending

    /// Returns the next step. It mutates nothing: if it were not `mutating`, the owner would copy the writer to call it.
    mutating func next() -> Step {
        switch feed.state {
        case .done: feed.hasOutput ? .framing : .end(isFramed: !needsEnd)
        case .bytes(let bytes, let from), .piece(let bytes, let from, _): .bytes(bytes, from: from)
        case .region(let region, let from): .region(region, from: from)
        case .file(let file, let offset, let remaining):
            feed.hasOutput ? .framing : .file(file, offset: offset, remaining: remaining)
        case .stream(let source): .stream(source)
        case .awaiting: feed.hasOutput ? .framing : .nothing
        }
    }

    /// Returns how many of `count` octets of content the rate limit allows to send now, or else when it allows more.
    mutating func allowance(_ count: Int, at now: Instant) -> RateLimit.Grant {
        rate?.grant(count, at: now) ?? .bytes(count)
    }

    /// Records that the channel has accepted `count` bytes: output first, then content. Returns how many were content.
    mutating func recordSent(_ count: Int) -> Int {
        hasBegun = true
        let contentBefore = feed.contentOctetsSent
        feed.advance(count)
        return Int(feed.contentOctetsSent - contentBefore)
    }

    /// Records that the kernel has accepted `count` bytes of a file; `remaining` bytes from `nextOffset` on are still to be sent.
    mutating func recordSent(_ count: Int, of file: FileSource, nextOffset: Int64, remaining: Int64) {
        hasBegun = true
        feed.contentOctetsSent += Int64(count)
        feed.state = remaining == 0 ? .done : .file(file, offset: nextOffset, remaining: remaining)
    }

    /// Records in the rate limit that content was sent.
    mutating func spend(_ count: Int, at now: Instant) { rate?.spend(count, at: now) }

    /// Whether the source of a stream must be asked for a piece. If all announced content has been sent, it is not asked for its
    /// end: the peer may respond already.
    mutating func ask(_ source: any ContentSource) -> Bool {
        if let sourceLength, feed.contentOctetsSent >= sourceLength {
            feed.state = .done
            return false
        }
        feed.state = .awaiting(source)
        return true
    }
}
