// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// A bounded byte buffer between two threads: one puts, the other takes, and either may block until the other has made progress.
/// May be used on any thread; event loops must not call the waiting methods.
final class BytePipe: Sendable {
    /// How the pipe has ended.
    enum Ending: Sendable {
        /// The remaining bytes can be taken; then the end is reached.
        case finished
        /// Reading or writing has failed with this error.
        case failed(any Error)
        /// The taking side has closed the pipe.
        case closed
    }

    private struct State: Sendable {
        var bytes: [UInt8] = []
        var start = 0
        var ending: Ending?

        var count: Int { bytes.count - start }
    }

    /// The default capacity.
    static let usualCapacity = 256 * 1024

    /// The pipe accepts bytes until this many are waiting.
    private let capacity: Int
    private let condition = NSCondition()
    private let state = Lock(State())

    /// Creates an empty pipe.
    init(capacity: Int = BytePipe.usualCapacity) { self.capacity = max(1, capacity) }

    /// How many bytes wait.
    var count: Int { state.withLock { $0.count } }
    /// How many bytes can be put now.
    var room: Int { state.withLock { $0.ending == nil ? max(0, capacity - $0.count) : 0 } }
    /// How the pipe has ended; nil while it has not.
    var ending: Ending? { state.withLock { $0.ending } }

    /// Puts as many of `bytes` as fit and returns their number; none after the end.
    func put(_ bytes: ArraySlice<UInt8>) -> Int {
        change { state in
            guard state.ending == nil else { return 0 }
            let count = min(bytes.count, max(0, capacity - state.count))
            moveUp(&state)
            state.bytes.append(contentsOf: bytes.prefix(count))
            return count
        }
    }

    /// Puts all of `bytes`, even beyond the capacity; none after the end.
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

    /// Takes up to `limit` bytes, possibly none. `makesRoom` tells whether the pipe was full and no longer is.
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

    /// Ends the pipe. Only the first ending counts, except that `closed` always takes effect.
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

    /// Blocks until there are bytes to take, or the pipe has ended.
    func waitForBytes() { wait { $0.count > 0 || $0.ending != nil } }

    /// Blocks until bytes can be put, or the pipe has ended.
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
