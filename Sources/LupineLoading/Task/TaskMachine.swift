// SPDX-License-Identifier: MIT

/// Decides the state of one task, from its creation to its completion (U-6.1, U-6.3, U-6.5; T-2).
///
/// Suspensions are not counted: one `resume` undoes any number of `suspend`s. The machine has no side effects: `TaskCore`
/// performs the returned actions.
struct TaskMachine: Sendable {
    /// The states. The comment behind each case lists the states that may follow it.
    enum State: Hashable, Sendable {
        case notStarted  // → running, cancelling
        case running  // → suspended, cancelling, completed
        /// The task was suspended after it had been started.
        case suspended  // → running, cancelling, completed
        case cancelling  // → completed
        case completed
    }

    /// The calls of the program, and the end of the task (`finish`).
    enum Event: CaseIterable, Sendable { case resume, suspend, cancel, finish }

    /// The action that the core has to perform.
    enum Action: Hashable, Sendable {
        case none
        /// Start the load.
        case start
        /// Suspend or resume the load.
        case setSuspended(Bool)
        /// Cancel the load.
        case cancelLoad
        /// End the task, which was not started and has no load.
        case endUnstarted
        /// Complete the task with the result of its load.
        case complete
        /// Complete the task as cancelled.
        case completeCancelled
    }

    private(set) var state = State.notStarted

    /// Changes the state as the event requires, and returns the action to perform.
    mutating func handle(_ event: Event) -> Action {
        switch (state, event) {
        case (.notStarted, .resume):
            state = .running
            return .start
        case (.notStarted, .cancel):
            state = .cancelling
            return .endUnstarted
        case (.running, .suspend):
            state = .suspended
            return .setSuspended(true)
        case (.suspended, .resume):
            state = .running
            return .setSuspended(false)
        case (.running, .cancel), (.suspended, .cancel):
            state = .cancelling
            return .cancelLoad
        case (.running, .finish), (.suspended, .finish):
            state = .completed
            return .complete
        case (.cancelling, .finish):
            state = .completed
            return .completeCancelled
        case (.notStarted, .suspend), (.running, .resume), (.suspended, .suspend),
            (.cancelling, .resume), (.cancelling, .suspend), (.cancelling, .cancel),
            (.completed, .resume), (.completed, .suspend), (.completed, .cancel):
            return .none
        case (.notStarted, .finish), (.completed, .finish):
            preconditionFailure("a task that is \(state) does not end")
        }
    }

    /// The state as the program sees it.
    var publicState: URLSessionTask.State {
        switch state {
        case .notStarted, .suspended: .suspended
        case .running: .running
        case .cancelling: .canceling
        case .completed: .completed
        }
    }
}
