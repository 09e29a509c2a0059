// SPDX-License-Identifier: MIT

internal import Foundation

/// Lets one thread at a time run work that may call the program's code, during which no lock can be held; other threads wait for
/// their turn. A thread that has the turn may take it again.
final class ThreadTurn: Sendable {
    private struct State {
        var owner: ObjectIdentifier?
        var depth = 0
    }

    private let condition = NSCondition()
    private let state = Protected(State())

    /// Runs `body` when it is the caller's turn.
    ///
    /// - Parameter body: Receives whether the caller already had the turn.
    func run<Value>(_ body: (_ isNested: Bool) throws -> Value) rethrows -> Value {
        let isNested = take()
        defer { giveBack() }
        return try body(isNested)
    }

    private func take() -> Bool {
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

    private func giveBack() {
        condition.lock()
        state.write { state in
            state.depth -= 1
            if state.depth == 0 { state.owner = nil }
        }
        condition.unlock()
        condition.signal()
    }
}
