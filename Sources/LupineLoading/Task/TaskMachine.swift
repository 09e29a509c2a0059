// SPDX-License-Identifier: MIT

/// Life of one task, from its creation to its completion (U-6.1, U-6.3, U-6.5; T-2).
///
/// Suspension is a flag: one `resume` undoes any number of `suspend`s. Pure: the core performs what comes back.
struct TaskMachine: Sendable {
    enum State: Hashable, Sendable {
        case fresh  // → running, cancelling; nothing has been started
        case running  // → held, cancelling, completed
        case held  // → running, cancelling, completed; started, and suspended again
        case cancelling  // → completed
        case completed
    }
    enum Event: CaseIterable, Sendable { case resume, suspend, cancel, finish }
    enum Action: Hashable, Sendable {
        case none
        /// The load begins.
        case start
        /// The load is held, or goes on.
        case hold(Bool)
        /// The load that runs is to end.
        case stop
        /// There is no load: the task ends here and now.
        case endUnstarted
        /// It has ended by itself.
        case complete
        /// It has ended because it was cancelled.
        case completeCancelled
    }

    private(set) var state = State.fresh

    /// The only writer of `state`.
    mutating func handle(_ event: Event) -> Action {
        switch (state, event) {
        case (.fresh, .resume):
            state = .running
            return .start
        case (.fresh, .cancel):
            state = .cancelling
            return .endUnstarted
        case (.running, .suspend):
            state = .held
            return .hold(true)
        case (.held, .resume):
            state = .running
            return .hold(false)
        case (.running, .cancel), (.held, .cancel):
            state = .cancelling
            return .stop
        case (.running, .finish), (.held, .finish):
            state = .completed
            return .complete
        case (.cancelling, .finish):
            state = .completed
            return .completeCancelled
        case (.fresh, .suspend), (.running, .resume), (.held, .suspend),
            (.cancelling, .resume), (.cancelling, .suspend), (.cancelling, .cancel),
            (.completed, .resume), (.completed, .suspend), (.completed, .cancel):
            return .none
        case (.fresh, .finish), (.completed, .finish):
            preconditionFailure("a task that is \(state) does not end")
        }
    }

    /// The state as the program sees it.
    var shown: URLSessionTask.State {
        switch state {
        case .fresh, .held: .suspended
        case .running: .running
        case .cancelling: .canceling
        case .completed: .completed
        }
    }
}
