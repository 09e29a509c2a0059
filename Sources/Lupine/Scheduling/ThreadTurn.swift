// SPDX-License-Identifier: MIT

internal import Foundation

/// A recursive lock for work that may call the program's code: neither `condition` nor a `Protected` is locked during the work.
/// Other threads wait until the work is done.
final class ThreadTurn: Sendable {
    private struct State {
        var owner: ObjectIdentifier?
        var depth = 0
    }

    private let condition = NSCondition()
    private let state = Protected(State())

    /// Waits until no other thread runs work, then runs `body`.
    ///
    /// - Parameter body: The work. Its argument says whether the calling thread is already running other work.
    func run<Value>(_ body: (_ isNested: Bool) throws -> Value) rethrows -> Value {
        let isNested = acquire()
        defer { release() }
        return try body(isNested)
    }

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
