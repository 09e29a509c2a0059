// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// A bounded byte buffer between a producer, which puts bytes, and a consumer, which takes them. Either may block until the other
/// has made progress. May be used on any thread, but event loops must not call `waitForBytes` and `waitForRoom`.
final class BytePipe: Sendable {
    /// How the pipe has ended.
    enum Ending: Sendable {
        /// The producer has put all bytes; the buffered ones can still be taken.
        case finished
        /// Reading or writing has failed with this error.
        case failed(any Error)
        /// The consumer has closed the pipe; the buffered bytes are discarded.
        case closed
    }

    private struct State: Sendable {
        /// The buffered bytes, after `start` bytes that were taken.
        var bytes: [UInt8] = []
        var start = 0
        var ending: Ending?

        var count: Int { bytes.count - start }
    }

    /// The default capacity.
    static let usualCapacity = 256 * 1024

    /// The pipe is full when this many bytes are buffered.
    private let capacity: Int
    private let condition = NSCondition()
    private let state = Lock(State())

    /// Creates an empty pipe.
    init(capacity: Int = BytePipe.usualCapacity) { self.capacity = max(1, capacity) }

    /// How many bytes are buffered.
    var count: Int { state.withLock { $0.count } }
    /// How many bytes can be put now.
    var room: Int { state.withLock { $0.ending == nil ? max(0, capacity - $0.count) : 0 } }
    /// How the pipe has ended; nil before that.
    var ending: Ending? { state.withLock { $0.ending } }

    /// Puts as many of `bytes` as fit and returns their number; puts none after the end.
    func put(_ bytes: ArraySlice<UInt8>) -> Int {
        change { state in
            guard state.ending == nil else { return 0 }
            let count = min(bytes.count, max(0, capacity - state.count))
            compact(&state)
            state.bytes.append(contentsOf: bytes.prefix(count))
            return count
        }
    }

    /// Puts all of `bytes`, even beyond the capacity; puts none after the end.
    func overfill(_ bytes: some Collection<UInt8> & Sendable) {
        change { state in
            guard state.ending == nil else { return }
            compact(&state)
            state.bytes.append(contentsOf: bytes)
        }
    }

    /// Removes bytes that were taken from the start of the array, once they are more than the capacity.
    private func compact(_ state: inout State) {
        guard state.start > capacity else { return }
        state.bytes.removeFirst(state.start)
        state.start = 0
    }

    /// Takes up to `limit` bytes, possibly none. `makesRoom` tells whether this call has made a full pipe accept bytes again.
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

    /// Ends the pipe. Only the first call has an effect, but `closed` replaces another ending.
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

    /// Changes the state, then wakes the threads that wait.
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let result = state.withLock { body(&$0) }
        // A thread that has checked the state before the change holds this lock until it waits, and is then woken.
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
