// SPDX-License-Identifier: MIT
import LupineTestKit
import Testing

@testable import LupineTransport

struct RateLimitTests {
    private let second = Interval.seconds(1)

    @Test func aFullBucketGivesItsBurstAndThenTheRate() {
        var limit = RateLimit(rate: 1000, burst: 100, at: .zero)
        #expect(limit.allowance(at: .zero) == 100)
        limit.spend(100, at: .zero)
        #expect(limit.allowance(at: .zero) == 0)
        #expect(limit.ready(for: 1, at: .zero) == Instant.zero + .milliseconds(1))
        #expect(limit.ready(for: 50, at: .zero) == Instant.zero + .milliseconds(50))
        #expect(
            limit.ready(for: 5000, at: .zero) == Instant.zero + .milliseconds(100), "never more than a burst")
        #expect(limit.allowance(at: Instant.zero + .milliseconds(50)) == 50)
        #expect(
            limit.allowance(at: Instant.zero + .seconds(50)) == 100, "a pause saves up no more than a burst")
    }

    @Test func fractionsAddUp() {
        var limit = RateLimit(rate: 3, burst: 3, at: .zero)
        limit.spend(3, at: .zero)
        var moved = 0
        for step in 1...10_000 {
            let now = Instant.zero + .milliseconds(Int64(step))
            let count = limit.allowance(at: now)
            limit.spend(count, at: now)
            moved += count
        }
        #expect(moved == 30, "ten seconds at three bytes a second")
    }

    @Test func readyIsNeitherEarlyNorLate() {
        var random = SeededRandom(seed: 9)
        for _ in 0..<2000 {
            let rate = Int.random(in: 1...1_000_000, using: &random)
            var limit = RateLimit(rate: rate, burst: Int.random(in: 1...100_000, using: &random), at: .zero)
            limit.spend(Int.random(in: 0...300_000, using: &random), at: .zero)
            let wanted = Int.random(in: 1...limit.burst, using: &random)
            let instant = limit.ready(for: wanted, at: .zero)
            var early = limit
            #expect(limit.allowance(at: instant) >= wanted)
            if instant > .zero {
                #expect(early.allowance(at: Instant(nanoseconds: instant.nanoseconds - 1)) < wanted)
            }
        }
    }

    @Test func overspendingIsADebt() {
        var limit = RateLimit(rate: 10, burst: 10, at: .zero)
        limit.spend(30, at: .zero)
        #expect(limit.allowance(at: Instant.zero + second) == 0)
        #expect(limit.ready(for: 1, at: Instant.zero + second) == Instant.zero + .milliseconds(2100))
    }

    @Test func absurdNumbersNeitherTrapNorStall() {
        var fast = RateLimit(rate: .max, burst: .max, at: .zero)
        fast.spend(.max, at: .zero)
        fast.spend(.max, at: .zero)
        #expect(fast.allowance(at: .zero) == 0)
        var slow = RateLimit(rate: -5, burst: -5, at: .zero)
        slow.spend(-1, at: .zero)
        #expect(slow.rate == 1 && slow.burst == 1 && slow.allowance(at: .distantFuture) == 1)
        slow.spend(1, at: .distantFuture)
        #expect(slow.allowance(at: .zero) == 0, "a clock that goes back gives nothing")
    }
}

struct TransferDeadlinesTests {
    static let all = TransferTimeouts(
        connect: .seconds(1), tlsHandshake: .seconds(2), firstByte: .seconds(3), idleRead: .seconds(4),
        idleWrite: .seconds(5), whole: .seconds(1000))

    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// Events, at intervals of a second.
        var events: [TransferDeadlines.Event]
        var timeout: TransferTimeout
        /// The second at which the time-out expires; the first event is at 0.
        var expiresAt: Int64
    }

    @Test(arguments: [
        Row(testDescription: "nothing yet", events: [], timeout: .whole, expiresAt: 1000),
        Row(testDescription: "waiting", events: [.connecting, .waiting], timeout: .whole, expiresAt: 1000),
        Row(testDescription: "connecting", events: [.connecting], timeout: .connect, expiresAt: 1),
        Row(
            testDescription: "handshaking", events: [.connecting, .handshaking], timeout: .tlsHandshake,
            expiresAt: 3
        ),
        Row(testDescription: "sending", events: [.connecting, .sending], timeout: .idleWrite, expiresAt: 6),
        Row(
            testDescription: "the peer reads bytes", events: [.sending, .wrote, .wrote], timeout: .idleWrite,
            expiresAt: 7),
        Row(
            testDescription: "the source has no bytes", events: [.sending, .sourceDry], timeout: .whole,
            expiresAt: 1000),
        Row(
            testDescription: "the source has bytes again", events: [.sending, .sourceDry, .wrote],
            timeout: .idleWrite, expiresAt: 7),
        Row(testDescription: "sent", events: [.sending, .sent], timeout: .firstByte, expiresAt: 4),
        Row(
            testDescription: "the first byte", events: [.sending, .sent, .received], timeout: .idleRead,
            expiresAt: 6
        ),
        Row(
            testDescription: "each byte", events: [.sending, .sent, .received, .received], timeout: .idleRead,
            expiresAt: 7),
        Row(
            testDescription: "an early response while sending", events: [.sending, .received],
            timeout: .idleRead, expiresAt: 5),
        Row(
            testDescription: "an interim response while sending", events: [.sending, .received, .interim],
            timeout: .idleWrite, expiresAt: 5),
        Row(
            testDescription: "the peer reads bytes after an interim response",
            events: [.sending, .received, .interim, .wrote, .wrote, .wrote], timeout: .idleWrite,
            expiresAt: 10),
        Row(
            testDescription: "sent after an interim response",
            events: [.sending, .received, .interim, .wrote, .sent], timeout: .firstByte, expiresAt: 7),
        Row(
            testDescription: "an interim response after the request",
            events: [.sending, .sent, .received, .interim], timeout: .idleRead, expiresAt: 6),
        Row(
            testDescription: "sent after an early response", events: [.sending, .received, .sent],
            timeout: .idleRead, expiresAt: 5),
        Row(
            testDescription: "the write side is stuck", events: [.sending, .received, .received, .received],
            timeout: .idleWrite, expiresAt: 5),
        Row(
            testDescription: "reading paused", events: [.sent, .received, .readingPaused], timeout: .whole,
            expiresAt: 1000),
        Row(
            testDescription: "bytes in flight as reading pauses",
            events: [.sent, .received, .readingPaused, .received], timeout: .whole, expiresAt: 1000),
        Row(
            testDescription: "reading resumed", events: [.sent, .received, .readingPaused, .readingResumed],
            timeout: .idleRead, expiresAt: 7),
        Row(
            testDescription: "a pause before the first byte changes nothing",
            events: [.sent, .readingPaused], timeout: .firstByte, expiresAt: 3),
        Row(
            testDescription: "resumed without a pause", events: [.sent, .received, .readingResumed],
            timeout: .idleRead, expiresAt: 5),
    ])
    func next(_ row: Row) { expectExpiry(row, Self.all) }

    private func expectExpiry(_ row: Row, _ timeouts: TransferTimeouts) {
        var deadlines = TransferDeadlines(timeouts, at: .zero)
        for (second, event) in row.events.enumerated() {
            deadlines.handle(event, at: Instant.zero + .seconds(Int64(second)))
        }
        let instant = Instant.zero + .seconds(row.expiresAt)
        #expect(deadlines.next?.timeout == row.timeout)
        #expect(deadlines.next?.instant == instant)
        #expect(deadlines.expired(at: instant) == row.timeout)
        #expect(deadlines.expired(at: Instant(nanoseconds: instant.nanoseconds - 1)) == nil)
    }

    static let idleOnly = TransferTimeouts(idle: .seconds(5), whole: .seconds(1000))

    /// Any progress restarts the idle time, and it stops while no progress is expected.
    @Test(
        "[U-14.2, U-14.3] the idle time",
        arguments: [
            Row(testDescription: "nothing yet", events: [], timeout: .whole, expiresAt: 1000),
            Row(testDescription: "connecting", events: [.connecting], timeout: .idle, expiresAt: 5),
            Row(
                testDescription: "handshaking", events: [.connecting, .handshaking], timeout: .idle,
                expiresAt: 6),
            Row(
                testDescription: "queued", events: [.connecting, .waiting], timeout: .whole, expiresAt: 1000),
            Row(testDescription: "the request begins", events: [.sending], timeout: .idle, expiresAt: 5),
            Row(
                testDescription: "bytes go out", events: [.sending, .wrote, .wrote], timeout: .idle,
                expiresAt: 7),
            Row(
                testDescription: "bytes go out under an early response",
                events: [.sending, .received, .wrote],
                timeout: .idle, expiresAt: 7),
            Row(
                testDescription: "the source has no bytes", events: [.sending, .sourceDry], timeout: .idle,
                expiresAt: 5),
            Row(
                testDescription: "bytes arrive", events: [.sent, .received, .received], timeout: .idle,
                expiresAt: 7),
            Row(
                testDescription: "the consumer paused", events: [.sent, .received, .readingPaused],
                timeout: .whole, expiresAt: 1000),
            Row(
                testDescription: "the consumer resumes",
                events: [.sent, .received, .readingPaused, .readingResumed], timeout: .idle, expiresAt: 8),
            Row(testDescription: "suspended", events: [.sent, .suspended], timeout: .whole, expiresAt: 1000),
            Row(
                testDescription: "bytes arrive during a suspension", events: [.sent, .suspended, .received],
                timeout: .whole, expiresAt: 1000),
            Row(
                testDescription: "resumed", events: [.sent, .suspended, .unsuspended], timeout: .idle,
                expiresAt: 7),
            Row(
                testDescription: "resumed while the consumer is paused",
                events: [.sent, .received, .readingPaused, .suspended, .unsuspended], timeout: .whole,
                expiresAt: 1000),
        ])
    func idle(_ row: Row) { expectExpiry(row, Self.idleOnly) }

    /// U-6.4: a suspension stops every time-out but `whole`; it restarts afterwards.
    @Test(arguments: [
        Row(
            testDescription: "connecting", events: [.connecting, .suspended], timeout: .whole, expiresAt: 1000
        ),
        Row(
            testDescription: "connecting again", events: [.connecting, .suspended, .unsuspended],
            timeout: .connect, expiresAt: 3),
        Row(
            testDescription: "handshaking again", events: [.handshaking, .suspended, .unsuspended],
            timeout: .tlsHandshake, expiresAt: 4),
        Row(
            testDescription: "sending again", events: [.sending, .suspended, .unsuspended],
            timeout: .idleWrite, expiresAt: 7),
        Row(
            testDescription: "the first byte again", events: [.sent, .suspended, .unsuspended],
            timeout: .firstByte, expiresAt: 5),
        Row(
            testDescription: "reading again", events: [.sent, .received, .suspended, .unsuspended],
            timeout: .idleRead, expiresAt: 7),
    ])
    func suspension(_ row: Row) { expectExpiry(row, Self.all) }

    @Test func withoutTimeoutsNothingExpires() {
        var deadlines = TransferDeadlines(TransferTimeouts(), at: .zero)
        for event in [TransferDeadlines.Event.connecting, .handshaking, .sending, .sent, .received] {
            deadlines.handle(event, at: .zero)
            #expect(deadlines.next == nil && deadlines.expired(at: .distantFuture) == nil)
        }
    }

    @Test func theWholeTimeoutExpiresEvenWhileBytesFlow() {
        var deadlines = TransferDeadlines(
            TransferTimeouts(idleRead: .seconds(4), whole: .seconds(10)), at: .zero)
        deadlines.handle(.sent, at: .zero)
        for second in 1..<10 { deadlines.handle(.received, at: Instant.zero + .seconds(Int64(second))) }
        #expect(deadlines.expired(at: Instant.zero + .seconds(10)) == .whole)
    }
}
