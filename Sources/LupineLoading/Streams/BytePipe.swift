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
        case failed(URLError)
        /// Nobody takes any more.
        case closed
    }

    private struct State: Sendable {
        var bytes: [UInt8] = []
        var start = 0
        var ending: Ending?

        var count: Int { bytes.count - start }
    }

    /// So much waits at most.
    static let capacity = 256 * 1024

    private let condition = NSCondition()
    private let state = Lock(State())

    /// How many bytes wait.
    var count: Int { state.withLock { $0.count } }
    /// How many bytes can be put now.
    var room: Int { state.withLock { $0.ending == nil ? max(0, Self.capacity - $0.count) : 0 } }
    /// How it has ended.
    var ending: Ending? { state.withLock { $0.ending } }

    /// Puts the beginning of `bytes`, as much as there is room for; nothing once it has ended.
    func put(_ bytes: ArraySlice<UInt8>) -> Int {
        change { state in
            guard state.ending == nil else { return 0 }
            let count = min(bytes.count, Self.capacity - state.count)
            if state.start > Self.capacity {
                state.bytes.removeFirst(state.start)
                state.start = 0
            }
            state.bytes.append(contentsOf: bytes.prefix(count))
            return count
        }
    }

    /// Takes so many bytes at most; empty when there are none.
    func take(_ limit: Int) -> [UInt8] {
        change { state in
            let end = state.start + min(limit, state.count)
            let taken = Array(state.bytes[state.start..<end])
            state.start = end
            if state.start == state.bytes.count { (state.bytes, state.start) = ([], 0) }
            return taken
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
    func waitForRoom() { wait { $0.count < Self.capacity || $0.ending != nil } }

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
