// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// A bounded byte buffer between a producer, which appends bytes, and a consumer, which reads them. Either may block until the
/// other has made progress. May be used on any thread, but event loops must not call `waitForBytes` and `waitForRoom`, which
/// block.
final class BytePipe: Sendable {
    /// How the pipe has ended.
    enum Ending: Sendable {
        /// The producer has appended all bytes; the buffered ones can still be read.
        case finished
        /// Reading or writing has failed with this error.
        case failed(any Error)
        /// The consumer has closed the pipe; the buffered bytes are discarded.
        case closed
    }

    private struct State: Sendable {
        /// Bytes that were read, followed by the buffered bytes.
        var bytes: [UInt8] = []
        /// The number of bytes at the start of `bytes` that were read.
        var readCount = 0
        var ending: Ending?

        /// The number of buffered bytes.
        var count: Int { bytes.count - readCount }
    }

    /// The default capacity: 256 KiB.
    static let defaultCapacity = 256 * 1024

    /// The pipe is full when this many bytes are buffered.
    private let capacity: Int
    /// Signals each change of `state` to the threads that wait.
    private let condition = NSCondition()
    private let state = Lock(State())

    /// Creates an empty pipe.
    init(capacity: Int = BytePipe.defaultCapacity) { self.capacity = max(1, capacity) }

    /// How many bytes are buffered.
    var count: Int { state.withLock { $0.count } }
    /// How many bytes can be appended now; 0 after the end.
    var room: Int { state.withLock { $0.ending == nil ? max(0, capacity - $0.count) : 0 } }
    /// How the pipe has ended; nil before the end.
    var ending: Ending? { state.withLock { $0.ending } }

    /// Appends as many of `bytes` as fit and returns their number; 0 after the end.
    func append(_ bytes: ArraySlice<UInt8>) -> Int {
        change { state in
            guard state.ending == nil else { return 0 }
            let count = min(bytes.count, max(0, capacity - state.count))
            compact(&state)
            state.bytes.append(contentsOf: bytes.prefix(count))
            return count
        }
    }

    /// Appends all of `bytes`, even beyond the capacity. Does nothing after the end.
    func appendAll(_ bytes: some Collection<UInt8> & Sendable) {
        change { state in
            guard state.ending == nil else { return }
            compact(&state)
            state.bytes.append(contentsOf: bytes)
        }
    }

    /// Removes the bytes that were read from the array, once they are more than the capacity.
    private func compact(_ state: inout State) {
        guard state.readCount > capacity else { return }
        state.bytes.removeFirst(state.readCount)
        state.readCount = 0
    }

    /// Removes and returns up to `limit` buffered bytes, possibly none. `makesRoom` tells whether the pipe was full and accepts
    /// bytes again.
    func read(upTo limit: Int) -> (bytes: [UInt8], makesRoom: Bool) {
        change { state in
            let wasFull = state.count >= capacity
            let end = state.readCount + min(limit, state.count)
            let bytes = Array(state.bytes[state.readCount..<end])
            state.readCount = end
            if state.readCount == state.bytes.count { (state.bytes, state.readCount) = ([], 0) }
            return (bytes, wasFull && state.count < capacity)
        }
    }

    /// Ends the pipe. Only the first call has an effect, but `closed` replaces another ending.
    func end(_ ending: Ending) {
        change { state in
            if case .closed = ending {
                (state.bytes, state.readCount) = ([], 0)
            } else if state.ending != nil {
                return
            }
            state.ending = ending
        }
    }

    /// Blocks until there are bytes to read, or the pipe has ended.
    func waitForBytes() { wait { $0.count > 0 || $0.ending != nil } }

    /// Blocks until bytes can be appended, or the pipe has ended.
    func waitForRoom() { wait { $0.count < capacity || $0.ending != nil } }

    /// Changes the state, then wakes the threads that wait.
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let result = state.withLock { body(&$0) }
        // `wait` locks the condition while it checks the state. So a thread that has seen the old state already waits when this
        // thread gets the lock, and the broadcast wakes it.
        condition.lock()
        condition.broadcast()
        condition.unlock()
        return result
    }

    /// Blocks until the state satisfies the condition.
    private func wait(until isReady: (State) -> Bool) {
        condition.lock()
        while !state.withLock({ isReady($0) }) { condition.wait() }
        condition.unlock()
    }
}
