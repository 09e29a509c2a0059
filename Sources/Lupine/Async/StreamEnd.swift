// SPDX-License-Identifier: MIT

/// What is done when the iteration of a `StreamOf` ends before its source has: once, or not at all.
final class StreamEnd: Sendable {
    /// A struct: a bare closure in a generic lock is wrapped anew at each look.
    private struct Action {
        let run: @Sendable () -> Void
    }

    private let action: Protected<Action?>

    init(_ action: @escaping @Sendable () -> Void) { self.action = Protected(Action(run: action)) }

    /// The iteration has ended.
    func reach() { take()?.run() }

    /// The source has ended: nothing is left to be done.
    func forget() { _ = take() }

    private func take() -> Action? {
        action.write { action in
            defer { action = nil }
            return action
        }
    }
}
