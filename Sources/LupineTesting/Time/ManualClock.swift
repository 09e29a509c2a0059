// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading
internal import LupineTransport

/// A clock that stands still until a test moves it: for retries, time-outs, ages of cached responses, and the program's own
/// delays.
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
/// `Stubs`, `TestOrigin` and `Recorder` accept a clock for all their sessions; `govern(_:)` sets it in any other
/// configuration. It is a `Clock` of the standard library, so that code of the program that takes `any Clock<Duration>` can
/// use it as well. A session with a manual clock has its own event loop, which ends with it. Clocks are independent: tests
/// with one clock each run in parallel. Can be used on any thread.
public final class ManualClock: Clock, Sendable {
    /// An instant of a manual clock: the time since the clock was created.
    public struct Instant: InstantProtocol {
        /// The time since the clock was created.
        public let elapsed: Duration

        init(_ instant: LupineTransport.Instant) {
            elapsed = LupineTransport.Instant.zero.duration(to: instant)
        }

        private init(elapsed: Duration) { self.elapsed = elapsed }

        /// Returns the instant that is `duration` later.
        public func advanced(by duration: Duration) -> Instant { Instant(elapsed: elapsed + duration) }

        /// Returns the time from this instant to the other.
        public func duration(to other: Instant) -> Duration { other.elapsed - elapsed }

        /// Whether the left instant is earlier.
        public static func < (left: Instant, right: Instant) -> Bool { left.elapsed < right.elapsed }
    }

    /// The initial date of the clock.
    private let startDate: Date
    private let core = ClockCore()
    /// The clock in the form that the configurations of sessions store.
    private let sessionClock: SessionClock

    /// Creates a clock that stands still at a date.
    ///
    /// - Parameter date: The initial date, in whole seconds as in header fields: a fraction is dropped.
    public init(date: Date = Date()) {
        let startDate = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        self.startDate = startDate
        sessionClock = SessionClock(
            now: { [core] in core.now }, date: { [core] in Self.date(core, since: startDate) },
            // An alarm is set at a time, a delay for an interval from now.
            alarm: { [core] moment, ring in core.setAlarm(.timeout, at: { _ in moment }, ring) },
            delay: { [core] delay, ring in core.setAlarm(.delay, at: { $0 + Interval(delay) }, ring) },
            transport: ClockCore.LoopTime(core: core),
            loops: { [core] count throws(Errno) in try core.loops(count) })
    }

    /// Returns the date of a clock that has started at `startDate`.
    private static func date(_ core: ClockCore, since startDate: Date) -> Date {
        startDate.addingTimeInterval(Double((core.now - .zero).nanoseconds) / 1e9)
    }

    // MARK: time

    /// The current instant.
    public var now: Instant { Instant(core.now) }

    /// The current date: the initial date plus the time by which the clock was moved.
    public var date: Date { Self.date(core, since: startDate) }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    // MARK: advancing

    /// Moves the clock forward. The delays and time-outs that are due end in order, each at its own time. A negative duration has
    /// no effect.
    ///
    /// The work after a delay continues asynchronously: when this method returns, a retry has been triggered, but may not have
    /// been sent. A delay that such work starts begins at the new time. To move the clock through several delays, call
    /// `advanceToNext()` for each.
    public func advance(by duration: Duration) { core.advance(by: Interval(duration)) }

    /// Waits until a delay is pending, and moves the clock to the end of the first one. Time-outs that are due earlier end first.
    ///
    /// - Returns: The time by which the clock was moved: the remaining length of the first delay.
    /// - Throws: `CancellationError` when the task is cancelled.
    @discardableResult
    public func advanceToNext() async throws -> Duration {
        while true {
            try await core.waitForDelays(1)
            // Nil if the delay has been cancelled meanwhile.
            if let distance = core.advanceToNextDelay() { return distance }
        }
    }

    /// Returns once that number of delays are pending on this clock: retries with a delay, the pings of a WebSocket, an
    /// `OfflineRetrier`, `sleep`. Time-outs do not count: the operations that they limit wait for something else.
    ///
    /// A delayed retry remains pending, and counts, even if its request is cancelled meanwhile.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func untilWaiting(_ count: Int = 1) async throws { try await core.waitForDelays(count) }

    /// The number of pending delays, as counted by `untilWaiting(_:)`.
    public var waitingCount: Int { core.pendingDelays }

    // MARK: sleeping

    /// Returns once the clock has reached an instant; at once if it has reached it already.
    ///
    /// - Parameters:
    ///   - deadline: The instant.
    ///   - tolerance: Ignored: the clock is exact.
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let waiter = Waiter<Void>()
        let moment = LupineTransport.Instant.zero.advanced(by: deadline.elapsed)
        let cancel = core.setAlarm(.delay, at: { _ in moment }, { waiter.resume(.success(())) })
        // For a cancelled task. Has no effect on an alarm that has fired.
        defer { cancel() }
        try await waiter.value()
    }

    // MARK: configurations

    /// Sets this clock in the configuration, for sessions that are created from it afterwards.
    public func govern(_ configuration: URLSessionConfiguration) {
        configuration.lupine.clock = sessionClock
    }
}
