// SPDX-License-Identifier: MIT

internal import Foundation

/// A recursive critical section for work that may call the program's code: one thread at a time runs work, and other threads wait
/// until it has finished. During the work no lock is held, neither that of `condition` nor that of a `Protected`.
final class CriticalSection: Sendable {
    private struct State {
        /// The thread that runs work; nil for none.
        var owner: ObjectIdentifier?
        /// The number of calls of `run` on the owner's stack.
        var depth = 0
    }

    /// Signalled when the section becomes free, for the threads that wait.
    private let condition = NSCondition()
    // Changed only while `condition` is locked. Also wrapped in a `Protected`, because the compiler cannot check that.
    private let state = Protected(State())

    /// Waits until no other thread runs work, then runs `body`.
    ///
    /// - Parameter body: The work. Its argument says whether the calling thread is already inside the section.
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
            // Nil if another thread owns the section.
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

    /// Leaves the section, and wakes one waiting thread.
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
