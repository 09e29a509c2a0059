// SPDX-License-Identifier: MIT

internal import LupineLoading

/// The steps of one request, which are performed one after the other, each where it may run.
///
/// A value without I/O, under the lock of its owner: the owner performs the actions that it returns, and reports when a step has
/// returned. A step runs on the thread that brings it if none is being performed; otherwise it waits, and the thread that performs
/// the present step performs it afterwards. A step that calls the program's code has to run on the root queue: if the lane is
/// elsewhere, it moves there first, and everything behind that step waits.
struct Lane {
    /// One thing to do for the request.
    struct Step: Sendable {
        /// Whether the step has to run on the root queue.
        let needsRoot: Bool
        let run: @Sendable () -> Void
    }

    private enum State: Equatable {
        case idle  // → running, moving
        /// A thread performs a step: one of the root queue's, or any other.
        case running(onRoot: Bool)  // → idle, moving
        /// A block that continues on the root queue is on its way there.
        case moving  // → running
    }

    enum Action {
        /// Perform the step, then call `stepReturned()`.
        case run(Step)
        /// Put a block on the root queue that calls `arrived()`.
        case moveToRoot
        /// Nothing: another thread continues, or there is nothing left.
        case none
    }

    private var state = State.idle
    private var waiting = SmallArray<Step>()

    /// Whether a step is being performed on another thread than the root queue's.
    var isElsewhere: Bool { state == .running(onRoot: false) }

    /// Takes a step from the calling thread, which is on the root queue or not.
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

    /// The step that was to be performed has returned.
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
        return waiting.popFirst().map { .run($0) } ?? .none
    }

    /// The block on the root queue has begun.
    mutating func arrived() -> Action {
        guard state == .moving else { return .none }
        state = .running(onRoot: true)
        return stepReturned()
    }
}
