// SPDX-License-Identifier: MIT

/// A state machine that decides when a WebSocket sends automatic pings. `WebSocketRequest` performs the actions that it returns.
///
/// The first ping is due one interval after the connection was opened. Each further ping is due one interval after the pong for
/// the previous one. If a ping is not answered, the connection sends no more pings. Each ping has a number, by which the schedule
/// recognizes and ignores events of earlier pings.
struct PingSchedule: Equatable {
    /// The associated values are the numbers of pings.
    private enum Phase: Equatable {
        /// No ping is scheduled.
        case idle
        /// The ping will be sent when the interval has elapsed.
        case scheduled(number: Int)
        /// The ping was sent, and its pong has not been received.
        case awaitingPong(number: Int)
    }

    /// An event that affects the schedule. The associated values are the numbers of pings.
    enum Event {
        /// The connection was opened.
        case connected
        /// The interval before the ping has elapsed.
        case intervalElapsed(number: Int)
        /// The pong for the ping was received.
        case pongReceived(number: Int)
        /// The ping could not be sent, or it will not be answered.
        case pingFailed(number: Int)
        /// The connection sends no more pings.
        case stopped
    }

    /// The action that the request performs after an event. The associated values are the numbers of pings.
    enum Action: Equatable {
        case none
        /// Wait for one interval, then pass `intervalElapsed` to the schedule.
        case wait(number: Int)
        /// Send a ping, then pass `pongReceived` or `pingFailed` to the schedule.
        case sendPing(number: Int)
    }

    private var phase = Phase.idle
    /// The number of the latest ping.
    private var latestNumber = 0

    /// Changes the phase and returns the action to perform.
    mutating func receive(_ event: Event) -> Action {
        switch event {
        case .connected: return scheduleNext()
        case .intervalElapsed(let number):
            guard phase == .scheduled(number: number) else { return .none }
            phase = .awaitingPong(number: number)
            return .sendPing(number: number)
        case .pongReceived(let number):
            guard phase == .awaitingPong(number: number) else { return .none }
            return scheduleNext()
        case .pingFailed(let number):
            if phase == .awaitingPong(number: number) { phase = .idle }
            return .none
        case .stopped:
            phase = .idle
            return .none
        }
    }

    /// Schedules the next ping.
    private mutating func scheduleNext() -> Action {
        latestNumber += 1
        phase = .scheduled(number: latestNumber)
        return .wait(number: latestNumber)
    }
}
