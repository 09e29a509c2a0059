// SPDX-License-Identifier: MIT

/// How many bytes of a request's content wait in one asynchronous sequence to be taken out. Any thread.
///
/// From when somebody iterates, the request counts them with what waits for its handlers: an iteration that is slower than
/// the server slows it down. Before that nobody is slow, and what comes is gathered without a bound (C-45): a program may
/// well iterate two sequences of a request one after the other.
final class GatheredBytes: Sendable {
    private enum Phase: Sendable {
        case gathering  // → iterated, over
        case iterated  // → over
        case over
    }

    private struct State: Sendable {
        var phase = Phase.gathering
        var count = 0
    }

    /// Stands in the sequence's buffer beside what came with so many bytes. They have been taken when nobody has it any more,
    /// also when the buffer had no room.
    final class Receipt: Sendable {
        private let gathered: GatheredBytes
        private let count: Int

        fileprivate init(_ gathered: GatheredBytes, _ count: Int) {
            self.gathered = gathered
            self.count = count
        }

        deinit { gathered.took(count) }
    }

    private let weigh: @Sendable (Int) -> Void
    private let state = Protected(State())

    /// - Parameter weigh: Tells the request by how many bytes its backlog changes.
    init(weigh: @escaping @Sendable (Int) -> Void) { self.weigh = weigh }

    /// So many bytes are about to wait.
    func receipt(for count: Int) -> Receipt {
        change { state in
            switch state.phase {
            case .gathering:
                state.count += count
                return 0
            case .iterated:
                state.count += count
                return count
            case .over: return 0
            }
        }
        return Receipt(self, count)
    }

    /// Somebody iterates.
    func begin() {
        change { state in
            switch state.phase {
            case .gathering:
                state.phase = .iterated
                return state.count
            case .iterated, .over: return 0
            }
        }
    }

    /// Nothing is taken out any more.
    func end() {
        change { state in
            defer { state = State(phase: .over) }
            switch state.phase {
            case .iterated: return -state.count
            case .gathering, .over: return 0
            }
        }
    }

    private func took(_ count: Int) {
        change { state in
            switch state.phase {
            case .gathering:
                state.count -= count
                return 0
            case .iterated:
                state.count -= count
                return -count
            case .over: return 0
            }
        }
    }

    /// The request hears of it outside of the lock. Two changes may reach it in another order: their sum is the same.
    private func change(_ body: (inout State) -> Int) {
        let difference = state.write(body)
        if difference != 0 { weigh(difference) }
    }
}
