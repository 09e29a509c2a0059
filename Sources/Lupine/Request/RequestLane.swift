// SPDX-License-Identifier: MIT

internal import LupineLoading

/// The steps of one request, which are taken one at a time, in the order in which they came: who takes them, and where.
///
/// A value; the request keeps it under its lock, and takes a step outside of that. Where no code of the program's can run in a
/// step, whoever brings it takes it: the program's thread, an event loop, a queue. Any other step is taken on the root queue. Steps
/// that are brought while somebody takes one are left to that thread. Nothing is lost: whenever a step waits, somebody takes steps,
/// or a block that will is on the root queue.
struct RequestLane<Step> {
    /// Who sees to the steps that wait.
    enum Phase: Equatable {
        /// Nothing waits.
        case idle
        /// A block on the root queue will take what waits.
        case called
        /// Somebody takes steps.
        case taken
    }

    /// What a thread does that has asked for a step.
    enum Order {
        /// It takes this step, and asks again.
        case take(Step)
        /// It puts a block on the root queue that asks there.
        case call
        /// There is nothing to do for it.
        case leave
    }

    private(set) var phase = Phase.idle
    private var waiting = Queue<Step>()

    /// Brings a step, in its turn. The caller asks with `begin` when it has left the lock.
    mutating func append(_ step: Step) { waiting.append(step) }

    /// Brings a step that comes before all that wait: the rest of the one that is being taken, which cannot go on where it is.
    mutating func prepend(_ step: Step) { waiting.prepend(step) }

    /// Brings a step, and asks as `begin` does.
    mutating func begin(_ step: Step, mayTakeHere: Bool) -> Order {
        // What most steps find: nothing waits.
        if phase == .idle, mayTakeHere, waiting.isEmpty {
            phase = .taken
            return .take(step)
        }
        waiting.append(step)
        return begin(mayTakeHere: mayTakeHere)
    }

    /// Somebody who is not taking steps asks for one.
    ///
    /// - Parameter mayTakeHere: Whether it may be taken where the caller is: on the root queue, or because no code of the program's
    ///   takes part.
    mutating func begin(mayTakeHere: Bool) -> Order {
        switch phase {
        case .taken: return .leave
        case .idle, .called: break
        }
        if mayTakeHere {
            guard let step = waiting.popFirst() else { return .leave }
            phase = .taken
            return .take(step)
        }
        guard phase == .idle, !waiting.isEmpty else { return .leave }
        phase = .called
        return .call
    }

    /// Whoever has taken a step asks for the next one.
    mutating func next(mayTakeHere: Bool) -> Order {
        guard !waiting.isEmpty else {
            phase = .idle
            return .leave
        }
        guard mayTakeHere, let step = waiting.popFirst() else {
            phase = .called
            return .call
        }
        return .take(step)
    }
}
