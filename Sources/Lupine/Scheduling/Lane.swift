// SPDX-License-Identifier: MIT

internal import LupineLoading

/// The queue of one request's steps. It decides which thread performs each step; steps never overlap.
///
/// A value, which its owner, the request, keeps under a lock. The owner performs the returned actions, and calls `stepReturned()`
/// after each step. If the lane is idle, the thread that adds a step performs it. Otherwise the step waits, and the thread that
/// performs the present step performs it afterwards. A step that calls the program's code has to run on the root queue: if it is
/// next while another thread performs the steps, the owner enqueues a block on the root queue, which performs this step and those
/// after it.
struct Lane {
    /// A piece of the request's work.
    struct Step: Sendable {
        /// Whether the step has to run on the root queue.
        let needsRoot: Bool
        let run: @Sendable () -> Void
    }

    private enum State: Equatable {
        case idle  // → running, moving
        /// A thread performs a step. `onRoot` says whether it is the root queue's thread.
        case running(onRoot: Bool)  // → idle, moving
        /// A block that continues with the steps is enqueued on the root queue, and has not begun.
        case moving  // → running
    }

    /// The action that the owner performs.
    enum Action {
        /// Perform the step, then call `stepReturned()`.
        case run(Step)
        /// Enqueue a block on the root queue that calls `beganOnRoot()`.
        case moveToRoot
        /// Do nothing: another thread continues, or no step is left.
        case none
    }

    private var state = State.idle
    private var waiting = SmallArray<Step>()

    /// Whether a step is being performed on a thread other than the root queue's.
    var isRunningOffRoot: Bool { state == .running(onRoot: false) }

    /// Adds a step. `isOnRoot` says whether the calling thread is the root queue's.
    mutating func enter(_ step: Step, isOnRoot: Bool) -> Action {
        switch state {
        case .idle where isOnRoot || !step.needsRoot:
            state = .running(onRoot: isOnRoot)
            return .run(step)
        case .idle:
            waiting.append(step)
            state = .moving
            return .moveToRoot
        case .running, .moving:
            waiting.append(step)
            return .none
        }
    }

    /// Called when a step has returned. The result is the action for the next one.
    mutating func stepReturned() -> Action {
        guard case .running(let isOnRoot) = state else { return .none }
        guard let next = waiting.first else {
            state = .idle
            return .none
        }
        if next.needsRoot, !isOnRoot {
            state = .moving
            return .moveToRoot
        }
        guard let step = waiting.popFirst() else { return .none }
        return .run(step)
    }

    /// Called when the block on the root queue has begun. The result is the action for the next step.
    mutating func beganOnRoot() -> Action {
        guard state == .moving else { return .none }
        state = .running(onRoot: true)
        return stepReturned()
    }
}
