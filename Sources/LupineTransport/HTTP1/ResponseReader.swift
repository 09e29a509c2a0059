// SPDX-License-Identifier: MIT

import LupineHTTP

/// The receiving of one response: how fast it is read, what of it waits to be handled, and how much is still to come.
///
/// It decides and records. The connection reports to it what was received and what the codec has found.
struct ResponseReader {
    /// Bytes that were read and wait to be handled, because the consumer paused or the owner suspended the exchange.
    private var unhandledInput: [UInt8] = []
    /// The limit of received bytes; nil without a limit.
    private var rate: RateLimit?
    /// Whether the final head has arrived.
    private var hasHead = false
    /// Octets of the response's heads so far.
    private(set) var headOctets = 0
    /// How the content of the response is delimited.
    private(set) var framing = BodyFraming.none
    /// The octets of content that are still to be received; nil if the length is unknown.
    private(set) var contentRemaining: Int64?
    /// Whether the connection persists after the response (RFC 9112 §9.3).
    private var keepsAlive = true
    /// The parameters of the response's Keep-Alive field.
    private(set) var keepAliveHint = KeepAlive()
    /// How many bytes of an unwanted body may still be skipped.
    private var drainBudget = 0
    /// The transfer of the response's content into a file; nil if the sink receives it.
    var splice: SpliceTransfer?

    /// How many octets of an unwanted body the connection reads and discards in order to stay usable; a larger rest closes it.
    /// Typically so many octets arrive within one round trip.
    private static let drainLimit = 64 * 1024

    /// Begins to receive a response. The last one has been received completely, and its exchange has ended.
    mutating func begin(rate: RateLimit?) {
        self.rate = rate
        hasHead = false
        headOctets = 0
        framing = .none
        contentRemaining = nil
        keepsAlive = true
        keepAliveHint = KeepAlive()
    }

    /// Called when the exchange ends. More of its response may be read and discarded.
    mutating func endExchange() {
        splice = nil
        rate = nil
    }

    // MARK: input

    /// Whether no bytes wait to be handled.
    var hasHandledAll: Bool { unhandledInput.isEmpty }

    /// Whether the response has a rate limit.
    var isLimited: Bool { rate != nil }

    /// Returns how many bytes the rate limit allows to read now, at most `capacity`, or else when it allows more.
    mutating func allowance(_ capacity: Int, at now: Instant) -> RateLimit.Grant {
        rate?.grant(capacity, at: now) ?? .bytes(capacity)
    }

    /// Records in the rate limit that bytes were read.
    mutating func spend(_ count: Int, at now: Instant) { rate?.spend(count, at: now) }

    /// Stores bytes that were read and cannot be handled now. `takeStored` has returned what was stored before.
    mutating func store(_ bytes: inout [UInt8]) { swap(&bytes, &unhandledInput) }

    /// Returns the stored bytes. None are stored afterwards, so that those which still cannot be handled are stored again.
    mutating func takeStored() -> [UInt8] {
        var input: [UInt8] = []
        swap(&input, &unhandledInput)
        return input
    }

    // MARK: the response

    /// Records that the codec has consumed octets. Until the final head arrives, they belong to heads.
    mutating func recordConsumed(_ count: Int) { if !hasHead { headOctets += count } }

    /// Records what the final head says about the rest of the response.
    mutating func recordHead(_ framing: BodyFraming, keepsAlive: Bool, _ hint: KeepAlive) {
        hasHead = true
        self.framing = framing
        if case .length(let length) = framing { contentRemaining = length }
        self.keepsAlive = keepsAlive
        keepAliveHint = hint
    }

    /// Subtracts received content from the remaining length, if that is known.
    mutating func recordContent(_ count: Int) {
        guard let remaining = contentRemaining else { return }
        contentRemaining = remaining - Int64(count)
    }

    // MARK: an unwanted remainder

    /// Called when the consumer needs no more of the response. Returns whether the remainder is worth reading, so that the
    /// connection can be reused.
    mutating func skipRemainder() -> Bool {
        drainBudget = Self.drainLimit
        guard keepsAlive else { return false }
        switch framing {
        case .none: return true
        case .length: return (contentRemaining ?? .max) <= Int64(Self.drainLimit)
        // The length is unknown; `drainBudget` limits it.
        case .chunked: return true
        case .untilClose, .handover: return false
        }
    }

    /// Counts content that is discarded. Returns false when it is more than is worth reading.
    mutating func discard(_ count: Int) -> Bool {
        drainBudget -= count
        return drainBudget >= 0
    }
}
