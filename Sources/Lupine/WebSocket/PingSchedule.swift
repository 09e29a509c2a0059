// SPDX-License-Identifier: MIT

/// Decides when a WebSocket sends automatic pings; `WebSocketRequest` sends them. A value without locks, queues or clocks.
///
/// The first ping is due one interval after the connection was opened, each further ping one interval after the pong to the
/// previous one. After an unanswered ping, no more are sent on that connection. Each ping has a number, so that late events have
/// no effect.
struct PingSchedule: Equatable {
    private enum Phase: Equatable {
        case idle
        /// Waiting until the ping is due.
        case waiting(Int)
        /// Waiting for the pong.
        case asking(Int)
    }

    /// An event that affects the schedule.
    enum Event {
        /// The connection was opened.
        case connected
        /// The interval has elapsed.
        case due(Int)
        /// The pong was received.
        case answered(Int)
        /// The ping was not sent, or there will be no pong.
        case failed(Int)
        /// No more pings are to be sent on this connection.
        case stop
    }

    /// The action that follows an event.
    enum Action: Equatable {
        case none
        /// `due` is to be sent one interval from now.
        case wait(Int)
        /// A ping is to be sent; `answered` or `failed` follows.
        case ping(Int)
    }

    private var phase = Phase.idle
    private var number = 0

    /// The one transition function.
    mutating func receive(_ event: Event) -> Action {
        switch event {
        case .connected: return wait()
        case .due(let number):
            guard phase == .waiting(number) else { return .none }
            phase = .asking(number)
            return .ping(number)
        case .answered(let number): return phase == .asking(number) ? wait() : .none
        case .failed(let number):
            if phase == .asking(number) { phase = .idle }
            return .none
        case .stop:
            phase = .idle
            return .none
        }
    }

    private mutating func wait() -> Action {
        number += 1
        phase = .waiting(number)
        return .wait(number)
    }
}
