// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading
internal import LupineTransport

/// A clock that stands still until a test moves it: for retries, time-outs, ages of what is cached, and for the program's own
/// waits.
///
/// ```swift
/// let clock = ManualClock()
/// let stubs = Stubs(clock: clock)
/// stubs.expect(.get("/"), .status(503))
/// stubs.expect(.get("/"), .text("at last"))
/// async let text = stubs.session(interceptor: RetryPolicy(exponentialBackoffScale: 1_800))
///     .request("https://api.test/").serializingString().value
/// try await clock.advanceToNext()
/// print(try await text)
/// ```
///
/// `Stubs`, `TestOrigin` and `Recorder` take one, and all their sessions go by it; `govern(_:)` gives it to any other
/// configuration. It is a `Clock` of the standard library, so that code of the program that is given `any Clock<Duration>` can go
/// by it as well. A session with one has an event loop of its own, which ends with it. Clocks know nothing of each other: tests with
/// one each run in parallel. Any thread.
public final class ManualClock: Clock, Sendable {
    /// A moment of a manual clock, as the time since the clock was made.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public let elapsed: Duration

        init(_ instant: LupineTransport.Instant) {
            elapsed = LupineTransport.Instant.zero.duration(to: instant)
        }

        private init(elapsed: Duration) { self.elapsed = elapsed }

        /// The moment so much later.
        public func advanced(by duration: Duration) -> Instant { Instant(elapsed: elapsed + duration) }

        /// The time from this moment to the other.
        public func duration(to other: Instant) -> Duration { other.elapsed - elapsed }

        /// Whether the left one is earlier.
        public static func < (left: Instant, right: Instant) -> Bool { left.elapsed < right.elapsed }
    }

    /// The date when the clock was made.
    private let start: Date
    private let core = ClockCore()
    private let sessionClock: SessionClock

    /// A clock that stands still at a date.
    ///
    /// - Parameter date: What the clock shows at first, in whole seconds as header fields count: a fraction is dropped.
    public init(date: Date = Date()) {
        let start = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        self.start = start
        sessionClock = SessionClock(
            now: { [core] in core.now }, date: { [core] in Self.date(core, since: start) },
            alarm: { [core] moment, ring in core.set(.limit, at: { _ in moment }, ring) },
            delay: { [core] delay, ring in core.set(.wait, at: { $0 + Interval(delay) }, ring) },
            transport: ClockCore.LoopTime(core: core),
            loops: { [core] count throws(Errno) in try core.loops(count) })
    }

    private static func date(_ core: ClockCore, since start: Date) -> Date {
        start.addingTimeInterval(Double((core.now - .zero).nanoseconds) / 1e9)
    }

    // MARK: what it shows

    /// The present moment.
    public var now: Instant { Instant(core.now) }

    /// The present date: that of the beginning, and the time by which the clock was moved since.
    public var date: Date { Self.date(core, since: start) }

    /// A nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    // MARK: moving it

    /// Moves the clock. Whatever is due on the way goes off in its order, each at its moment; it never goes back, and a duration
    /// below zero moves nothing.
    ///
    /// What goes off does its work elsewhere, soon: a retry is on its way when this returns, no more. What begins to wait only
    /// then waits from the new time on: where a test moves the clock through several waits, `advanceToNext()` goes from one to the
    /// next.
    public func advance(by duration: Duration) { core.advance(by: Interval(duration)) }

    /// Waits until something waits, and moves the clock to the first moment that is waited for. Time-outs that are due before
    /// strike on the way.
    ///
    /// - Returns: How far the clock was moved: how long the first one still had to wait.
    /// - Throws: `CancellationError` when the task is cancelled.
    @discardableResult
    public func advanceToNext() async throws -> Duration {
        while true {
            try await core.whenWaiting(1)
            // It may have been taken back meanwhile.
            if let distance = core.advanceToNextWait() { return distance }
        }
    }

    /// Returns once so many wait for nothing but this clock: retries with a delay, the pings of a web socket, an `OfflineRetrier`,
    /// `sleep`. Time-outs do not count: what they limit waits for something else.
    ///
    /// A retry is on its way to its moment even when its request is cancelled meanwhile, and counts until then.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func untilWaiting(_ count: Int = 1) async throws { try await core.whenWaiting(count) }

    /// How many wait now, as `untilWaiting(_:)` counts them.
    public var waitingCount: Int { core.waits }

    // MARK: waiting for it

    /// Returns once the clock has been moved to a moment, at once when it has been already.
    ///
    /// - Parameters:
    ///   - deadline: The moment.
    ///   - tolerance: Of no use: the clock is exact.
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let waiter = Waiter<Void>()
        let moment = LupineTransport.Instant.zero.advanced(by: deadline.elapsed)
        let cancel = core.set(.wait, at: { _ in moment }, { waiter.resume(.success(())) })
        defer { cancel() }
        try await waiter.value()
    }

    // MARK: whom it governs

    /// Has the sessions go by this clock that are made of the configuration from here on.
    public func govern(_ configuration: URLSessionConfiguration) {
        configuration.lupine.clock = sessionClock
    }
}
