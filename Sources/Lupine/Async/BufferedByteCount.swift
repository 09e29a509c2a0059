// SPDX-License-Identifier: MIT

/// Counts the bytes of a request's body that are buffered in one asynchronous sequence. Can be used on any thread.
///
/// Once the sequence is iterated, its bytes are part of the request's backlog: an iteration that is slower than the server
/// slows it down. Before that, received data is buffered without back pressure (C-45), because a program may iterate two
/// sequences of a request one after the other. Beyond a limit the request fails.
final class BufferedByteCount: Sendable {
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

    /// Stored in the sequence's buffer beside an element that took `count` bytes. The bytes count as taken when the receipt
    /// is released, also when the buffer dropped the element.
    final class Receipt: Sendable {
        private let gathered: BufferedByteCount
        private let count: Int

        fileprivate init(_ gathered: BufferedByteCount, _ count: Int) {
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
    ///   - limit: The number of bytes that may be buffered before the iteration starts.
    ///   - overflow: Called once, on the thread that delivers the bytes beyond the limit.
    ///   - weigh: Tells the request by how many bytes its backlog changes.
    init(
        upTo limit: Int = .max, overflow: @escaping @Sendable () -> Void = {},
        weigh: @escaping @Sendable (Int) -> Void
    ) {
        self.limit = limit
        self.overflow = overflow
        self.weigh = weigh
    }

    /// Counts bytes that are about to be buffered. When `mayExceedLimit` is true they may exceed the limit, and the caller calls
    /// `checkLimit` once they are buffered.
    func receipt(for count: Int) -> (Receipt, mayExceedLimit: Bool) {
        var mayExceedLimit = false
        change { state in
            switch state.phase {
            case .gathering:
                state.count += count
                mayExceedLimit = state.count > limit
                return 0
            case .iterated:
                state.count += count
                return count
            case .overflown, .over: return 0
            }
        }
        return (Receipt(self, count), mayExceedLimit)
    }

    /// Calls `overflow` when more bytes are buffered than the limit allows. Elements that the buffer dropped, or that
    /// nothing can iterate any more, do not count.
    func checkLimit() {
        let overflows = state.write { state in
            guard case .gathering = state.phase, state.count > limit else { return false }
            state.phase = .overflown
            return true
        }
        if overflows { overflow() }
    }

    /// Called when an iteration starts.
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

    /// Called when the iteration has ended.
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

    /// Calls `weigh` outside the lock. Two changes may reach the request in the wrong order; their sum is the same.
    private func change(_ body: (inout State) -> Int) {
        let difference = state.write(body)
        if difference != 0 { weigh(difference) }
    }
}
