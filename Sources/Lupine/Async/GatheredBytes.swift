// SPDX-License-Identifier: MIT

/// How many bytes of a request's content wait in one asynchronous sequence to be taken out. Any thread.
///
/// From when somebody iterates, the request counts them with what waits for its handlers: an iteration that is slower than
/// the server slows it down. Before that nobody is slow, and what comes is gathered (C-45), up to a limit beyond which the
/// request fails: a program may well iterate two sequences of a request one after the other.
final class GatheredBytes: Sendable {
    private enum Phase: Sendable {
        case gathering  // → iterated, overflown, over
        case iterated  // → over
        case overflown  // → over
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

    private let limit: Int
    private let overflow: @Sendable () -> Void
    private let weigh: @Sendable (Int) -> Void
    private let state = Protected(State())

    /// - Parameters:
    ///   - limit: How many bytes are gathered before somebody iterates.
    ///   - overflow: Called once, by whoever brings more than that.
    ///   - weigh: Tells the request by how many bytes its backlog changes.
    init(
        upTo limit: Int = .max, overflow: @escaping @Sendable () -> Void = {},
        weigh: @escaping @Sendable (Int) -> Void
    ) {
        self.limit = limit
        self.overflow = overflow
        self.weigh = weigh
    }

    /// So many bytes are about to wait. Says whether they may be too many: `judge` is to follow when they wait.
    func receipt(for count: Int) -> (Receipt, isDoubtful: Bool) {
        var isDoubtful = false
        change { state in
            switch state.phase {
            case .gathering:
                state.count += count
                isDoubtful = state.count > limit
                return 0
            case .iterated:
                state.count += count
                return count
            case .overflown, .over: return 0
            }
        }
        return (Receipt(self, count), isDoubtful)
    }

    /// Tells whoever wants to know that more waits than may. What the buffer had no room for, or what nobody can iterate any
    /// more, does not.
    func judge() {
        let overflows = state.write { state in
            guard case .gathering = state.phase, state.count > limit else { return false }
            state.phase = .overflown
            return true
        }
        if overflows { overflow() }
    }

    /// Somebody iterates.
    func begin() {
        change { state in
            switch state.phase {
            case .gathering:
                state.phase = .iterated
                return state.count
            case .iterated, .overflown, .over: return 0
            }
        }
    }

    /// Nothing is taken out any more.
    func end() {
        change { state in
            defer { state = State(phase: .over) }
            switch state.phase {
            case .iterated: return -state.count
            case .gathering, .overflown, .over: return 0
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
            case .overflown, .over: return 0
            }
        }
    }

    /// The request hears of it outside of the lock. Two changes may reach it in another order: their sum is the same.
    private func change(_ body: (inout State) -> Int) {
        let difference = state.write(body)
        if difference != 0 { weigh(difference) }
    }
}
