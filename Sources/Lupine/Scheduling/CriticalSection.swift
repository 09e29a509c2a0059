// SPDX-License-Identifier: MIT

internal import Foundation

/// A recursive critical section for work that may call the program's code: one thread at a time runs work, and other threads wait
/// until it is done. During the work neither `condition` nor a `Protected` is locked.
final class CriticalSection: Sendable {
    private struct State {
        /// The thread that runs work; nil for none.
        var owner: ObjectIdentifier?
        /// The number of calls of `run` that the owner has entered and not left.
        var depth = 0
    }

    /// Wakes the threads that wait.
    private let condition = NSCondition()
    // Changed only while `condition` is locked. `Protected`, because the compiler does not know that.
    private let state = Protected(State())

    /// Waits until no other thread runs work, then runs `body`.
    ///
    /// - Parameter body: The work. Its argument says whether the calling thread is already running other work.
    func run<Value>(_ body: (_ isNested: Bool) throws -> Value) rethrows -> Value {
        let isNested = acquire()
        defer { release() }
        return try body(isNested)
    }

    /// Waits for the section and enters it. Returns whether the calling thread had entered it before.
    private func acquire() -> Bool {
        let thread = ObjectIdentifier(Thread.current)
        condition.lock()
        defer { condition.unlock() }
        while true {
            let depth: Int? = state.write { state in
                guard state.owner == nil || state.owner == thread else { return nil }
                state.owner = thread
                state.depth += 1
                return state.depth
            }
            if let depth { return depth > 1 }
            condition.wait()
        }
    }

    private func release() {
        condition.lock()
        state.write { state in
            state.depth -= 1
            if state.depth == 0 { state.owner = nil }
        }
        condition.unlock()
        condition.signal()
    }
}
