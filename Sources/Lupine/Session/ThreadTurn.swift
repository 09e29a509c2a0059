// SPDX-License-Identifier: MIT

internal import Foundation

/// Has one thread at a time do what may call the program's code, so that no lock can be held meanwhile: others wait for their
/// turn. A thread that has the turn may take it again.
final class ThreadTurn: Sendable {
    private struct State {
        var owner: ObjectIdentifier?
        var depth = 0
    }

    private let condition = NSCondition()
    private let state = Protected(State())

    /// Runs `body` when it is the caller's turn.
    ///
    /// - Parameter body: Is told whether the caller has the turn already.
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
