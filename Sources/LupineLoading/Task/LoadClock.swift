// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The time for whole loads, and one alarm at a time for loads that are parked: nobody else counts while they wait
/// (U-14.4).
struct LoadClock: Sendable {
    /// Takes an alarm back. Harmless when it has gone off.
    typealias Cancel = @Sendable () -> Void

    /// The present moment.
    let now: @Sendable () -> Instant
    /// Calls back at that moment, once, on some thread, unless it is taken back before.
    let alarm: @Sendable (Instant, @escaping @Sendable () -> Void) -> Cancel

    /// The machine's clock, and one alarm clock for everybody.
    static let system = LoadClock(
        now: { MonotonicClock().now() },
        alarm: { moment, ring in LoadAlarms.shared.set(at: moment, ring) })
}
