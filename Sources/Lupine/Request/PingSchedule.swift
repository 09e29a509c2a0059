// SPDX-License-Identifier: MIT

/// Decides when a web socket pings by itself; `WebSocketRequest` does it. A value without locks, queues or clocks.
///
/// The first ping is due an interval after the connection was made, each other one an interval after the pong to the one
/// before it. A ping that is not answered is the last one of its connection. What is told of a ping too late has no effect:
/// each has a number.
struct PingSchedule: Equatable {
    private enum Phase: Equatable {
        case idle
        /// Until the ping is due.
        case waiting(Int)
        /// Until it is answered.
        case asking(Int)
    }

    /// What happens to pings.
    enum Event {
        /// The connection was made.
        case connected
        /// The interval is over.
        case due(Int)
        /// The pong has come.
        case answered(Int)
        /// The ping was not sent, or there will be no pong.
        case failed(Int)
        /// There is to be no other ping on this connection.
        case stop
    }

    /// What is to be done about it.
    enum Action: Equatable {
        case none
        /// `due` follows an interval from now.
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
