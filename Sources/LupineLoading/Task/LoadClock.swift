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

    /// The machine's clock, and a timer on one of the loops that everybody shares.
    static let system = LoadClock(
        now: { MonotonicClock().now() },
        alarm: { moment, ring in
            // Without loops nothing else can be loaded, either.
            guard let loop = try? EventLoopGroup.shared().next() else { return {} }
            let timer = LoopTimer(loop)
            timer.set(at: moment, ring)
            return { timer.cancel() }
        })
}

/// A timer of a loop's that any thread may set and take back.
private final class LoopTimer: Sendable {
    private enum State: Sendable {
        case none
        case set(EventLoop.TimerToken)
        case cancelled
    }

    private let loop: EventLoop
    /// Changed on the loop only; locked because the last reference may go elsewhere.
    private let state = Lock(State.none)

    init(_ loop: EventLoop) { self.loop = loop }

    func set(at moment: Instant, _ ring: @escaping @Sendable () -> Void) {
        _ = loop.execute { [self] in
            if case .cancelled = state.withLock({ $0 }) { return }
            let token = loop.schedule(at: moment) { reason in
                if reason == .due { ring() }
            }
            state.withLock { $0 = .set(token) }
        }
    }

    func cancel() {
        _ = loop.execute { [self] in
            let found = state.withLock { state in
                defer { state = .cancelled }
                return state
            }
            if case .set(let token) = found { loop.cancel(token) }
        }
    }
}
