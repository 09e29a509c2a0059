// SPDX-License-Identifier: MIT

/// The life of one task, from its creation to its completion (U-6.1, U-6.3, U-6.5; T-2).
///
/// Suspension is a flag: one `resume` undoes any number of `suspend`s. Pure: the core performs the returned actions.
struct TaskMachine: Sendable {
    enum State: Hashable, Sendable {
        case notStarted  // → running, cancelling; nothing has been started
        case running  // → suspended, cancelling, completed
        case suspended  // → running, cancelling, completed; started, and suspended again
        case cancelling  // → completed
        case completed
    }
    enum Event: CaseIterable, Sendable { case resume, suspend, cancel, finish }
    enum Action: Hashable, Sendable {
        case none
        /// The load is started.
        case start
        /// The load is suspended, or resumed.
        case setSuspended(Bool)
        /// The running load is cancelled.
        case stop
        /// There is no load: the task is ended directly.
        case endUnstarted
        /// The task has ended by itself.
        case complete
        /// The task has ended because it was cancelled.
        case completeCancelled
    }

    private(set) var state = State.notStarted

    /// The only writer of `state`.
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
            return .stop
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
