// SPDX-License-Identifier: MIT

internal import LupineLoading

/// The queue of one request's steps. It decides which thread performs each step; steps never overlap.
///
/// It is a value type, which its owner, the request, keeps under a lock. The owner performs the returned actions, and calls
/// `stepReturned()` after each step. If the lane is idle, the thread that adds a step performs it. Otherwise the step waits, and
/// the thread that performs the present step performs it afterwards.
///
/// A step that calls the program's code has to run on the root queue (`Session.rootQueue`). If such a step is next while another
/// thread performs the steps, the owner enqueues a block on the root queue. That block performs this step and those after it.
struct Lane {
    /// One of the pieces into which a request's work is divided.
    struct Step: Sendable {
        /// Whether the step has to run on the root queue, because it calls the program's code.
        let needsRoot: Bool
        let run: @Sendable () -> Void
    }

    /// The comment at the end of each case names the states that can follow it.
    private enum State: Equatable {
        /// There is no step to perform.
        case idle  // → running, movingToRoot
        /// A thread performs a step. `onRoot` says whether it is the root queue's thread.
        case running(onRoot: Bool)  // → idle, movingToRoot
        /// A block that continues with the steps is enqueued on the root queue, and has not begun.
        case movingToRoot  // → running
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
    private var waitingSteps = SmallArray<Step>()

    /// Whether a step is being performed on a thread other than the root queue's.
    var isRunningOffRoot: Bool { state == .running(onRoot: false) }

    /// Adds a step. `isOnRoot` says whether the call is made on the root queue.
    mutating func add(_ step: Step, isOnRoot: Bool) -> Action {
        switch state {
        case .idle where isOnRoot || !step.needsRoot:
            state = .running(onRoot: isOnRoot)
            return .run(step)
        case .idle:
            waitingSteps.append(step)
            state = .movingToRoot
            return .moveToRoot
        case .running, .movingToRoot:
            waitingSteps.append(step)
            return .none
        }
    }

    /// Called when a step has returned. Returns the action for the next step.
    mutating func stepReturned() -> Action {
        guard case .running(let isOnRoot) = state else { return .none }
        guard let next = waitingSteps.first else {
            state = .idle
            return .none
        }
        if next.needsRoot, !isOnRoot {
            state = .movingToRoot
            return .moveToRoot
        }
        // Removes `next`, so the result is never nil.
        guard let step = waitingSteps.popFirst() else { return .none }
        return .run(step)
    }

    /// Called when the block on the root queue begins. Returns the action for the next step.
    mutating func beganOnRoot() -> Action {
        guard state == .movingToRoot else { return .none }
        state = .running(onRoot: true)
        // No step has returned here, but the choice of the next step is the same.
        return stepReturned()
    }
}
