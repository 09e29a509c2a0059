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
        case awaitingPong(Int)
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

    /// The action that the request performs after an event.
    enum Action: Equatable {
        case none
        /// Pass `due` to the schedule one interval from now.
        case wait(Int)
        /// Send a ping, then pass `answered` or `failed` to the schedule.
        case ping(Int)
    }

    private var phase = Phase.idle
    /// The number of the latest ping.
    private var number = 0

    /// Changes the phase and returns the action to perform.
    mutating func receive(_ event: Event) -> Action {
        switch event {
        case .connected: return scheduleNext()
        case .due(let number):
            guard phase == .waiting(number) else { return .none }
            phase = .awaitingPong(number)
            return .ping(number)
        case .answered(let number): return phase == .awaitingPong(number) ? scheduleNext() : .none
        case .failed(let number):
            if phase == .awaitingPong(number) { phase = .idle }
            return .none
        case .stop:
            phase = .idle
            return .none
        }
    }

    private mutating func scheduleNext() -> Action {
        number += 1
        phase = .waiting(number)
        return .wait(number)
    }
}
