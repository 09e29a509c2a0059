// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Bytes on their way from one thread to another, never more than a bounded number: one side puts, the other takes, and
/// either may wait for the other. Any thread; whoever waits is no event loop.
final class BytePipe: Sendable {
    /// What may still happen at the taking end.
    enum Ending: Sendable {
        /// What was put can be taken; behind that there is nothing.
        case finished
        /// There is nothing more to take, because of that.
        case failed(any Error)
        /// Nobody takes any more.
        case closed
    }

    private struct State: Sendable {
        var bytes: [UInt8] = []
        var start = 0
        var ending: Ending?

        var count: Int { bytes.count - start }
    }

    /// So much waits at most where nobody says otherwise.
    static let usualCapacity = 256 * 1024

    /// There is room until so much waits.
    private let capacity: Int
    private let condition = NSCondition()
    private let state = Lock(State())

    /// An empty pipe.
    init(capacity: Int = BytePipe.usualCapacity) { self.capacity = max(1, capacity) }

    /// How many bytes wait.
    var count: Int { state.withLock { $0.count } }
    /// How many bytes can be put now.
    var room: Int { state.withLock { $0.ending == nil ? max(0, capacity - $0.count) : 0 } }
    /// How it has ended.
    var ending: Ending? { state.withLock { $0.ending } }

    /// Puts the beginning of `bytes`, as much as there is room for; nothing once it has ended.
    func put(_ bytes: ArraySlice<UInt8>) -> Int {
        change { state in
            guard state.ending == nil else { return 0 }
            let count = min(bytes.count, max(0, capacity - state.count))
            moveUp(&state)
            state.bytes.append(contentsOf: bytes.prefix(count))
            return count
        }
    }

    /// Puts all of `bytes`, whether there is room or not; nothing once it has ended.
    func overfill(_ bytes: some Collection<UInt8> & Sendable) {
        change { state in
            guard state.ending == nil else { return }
            moveUp(&state)
            state.bytes.append(contentsOf: bytes)
        }
    }

    private func moveUp(_ state: inout State) {
        guard state.start > capacity else { return }
        state.bytes.removeFirst(state.start)
        state.start = 0
    }

    /// Takes so many bytes at most, none when there are none; and says whether there was no room before and is some now.
    func take(_ limit: Int) -> (bytes: [UInt8], makesRoom: Bool) {
        change { state in
            let wasFull = state.count >= capacity
            let end = state.start + min(limit, state.count)
            let taken = Array(state.bytes[state.start..<end])
            state.start = end
            if state.start == state.bytes.count { (state.bytes, state.start) = ([], 0) }
            return (taken, wasFull && state.count < capacity)
        }
    }

    /// Ends it. Only the first end counts, but that nobody takes any more counts always.
    func end(_ ending: Ending) {
        change { state in
            if case .closed = ending {
                (state.bytes, state.start) = ([], 0)
            } else if state.ending != nil {
                return
            }
            state.ending = ending
        }
    }

    /// Returns when there are bytes to be taken, or none any more.
    func waitForBytes() { wait { $0.count > 0 || $0.ending != nil } }

    /// Returns when there is room for bytes, or none will be any more.
    func waitForRoom() { wait { $0.count < capacity || $0.ending != nil } }

    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let result = state.withLock { body(&$0) }
        condition.lock()
        condition.broadcast()
        condition.unlock()
        return result
    }

    private func wait(until isReady: (State) -> Bool) {
        condition.lock()
        while !state.withLock({ isReady($0) }) { condition.wait() }
        condition.unlock()
    }
}
