// SPDX-License-Identifier: MIT

/// The life of one task, from its creation to its completion (U-6.1, U-6.3, U-6.5; T-2).
///
/// Suspension is a flag: one `resume` undoes any number of `suspend`s. Pure: the core performs the returned actions.
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
        /// The load is started.
        case start
        /// The load is suspended, or resumed.
        case hold(Bool)
        /// The running load is cancelled.
        case stop
        /// There is no load: the task is ended directly.
        case endUnstarted
        /// The task has ended by itself.
        case complete
        /// The task has ended because it was cancelled.
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
