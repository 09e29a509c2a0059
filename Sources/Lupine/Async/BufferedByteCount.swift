// SPDX-License-Identifier: MIT

/// Counts the bytes of a request's content that are buffered in one asynchronous sequence. Can be used on any thread.
///
/// Once a program iterates the sequence, its bytes are part of the request's backlog: an iteration that is slower than the server
/// slows the server down. Before that, received data is buffered without back pressure (C-45), because a program may iterate two
/// sequences of a request one after the other. More bytes than a limit allows then fail the request.
final class BufferedByteCount: Sendable {
    private enum Phase: Sendable {
        /// No iteration has started.
        case buffering  // → iterated, overflowed, ended
        /// The program iterates the sequence.
        case iterated  // → ended
        /// No iteration had started when the limit was exceeded.
        case overflowed  // → ended
        /// The iteration has ended.
        case ended
    }

    private struct State: Sendable {
        var phase = Phase.buffering
        var count = 0
    }

    /// Subtracts the bytes of one element when it is deallocated. Stored in the sequence's buffer with the element, so that the
    /// bytes are also subtracted if the buffer drops the element.
    final class Receipt: Sendable {
        private let bufferedBytes: BufferedByteCount
        private let count: Int

        fileprivate init(_ bufferedBytes: BufferedByteCount, _ count: Int) {
            self.bufferedBytes = bufferedBytes
            self.count = count
        }

        deinit { bufferedBytes.subtract(count) }
    }

    private let limit: Int
    private let overflow: @Sendable () -> Void
    private let changeBacklog: @Sendable (Int) -> Void
    private let state = Protected(State())

    /// - Parameters:
    ///   - limit: The number of bytes that may be buffered before the iteration starts.
    ///   - overflow: Called once, on the thread that delivers the bytes beyond the limit.
    ///   - changeBacklog: Adds a number of bytes to the request's backlog, or removes them if the number is negative.
    init(
        upTo limit: Int = .max, overflow: @escaping @Sendable () -> Void = {},
        changeBacklog: @escaping @Sendable (Int) -> Void
    ) {
        self.limit = limit
        self.overflow = overflow
        self.changeBacklog = changeBacklog
    }

    /// Adds bytes that are about to be buffered, and returns their receipt. If `mayExceedLimit` is true, the caller calls
    /// `checkLimit` once the bytes are buffered.
    func add(bytes count: Int) -> (Receipt, mayExceedLimit: Bool) {
        var mayExceedLimit = false
        change { state in
            switch state.phase {
            case .buffering:
                state.count += count
                mayExceedLimit = state.count > limit
                return 0
            case .iterated:
                state.count += count
                return count
            case .overflowed, .ended: return 0
            }
        }
        return (Receipt(self, count), mayExceedLimit)
    }

    /// Calls `overflow` if more bytes are buffered than the limit allows. Elements that the buffer has dropped do not count, nor
    /// do those of a sequence that has been deallocated.
    func checkLimit() {
        let overflows = state.write { state in
            guard case .buffering = state.phase, state.count > limit else { return false }
            state.phase = .overflowed
            return true
        }
        if overflows { overflow() }
    }

    /// Called when an iteration starts.
    func beginIteration() {
        change { state in
            switch state.phase {
            case .buffering:
                state.phase = .iterated
                return state.count
            case .iterated, .overflowed, .ended: return 0
            }
        }
    }

    /// Called when the iteration has ended.
    func endIteration() {
        change { state in
            defer { state = State(phase: .ended) }
            switch state.phase {
            case .iterated: return -state.count
            case .buffering, .overflowed, .ended: return 0
            }
        }
    }

    private func subtract(_ count: Int) {
        change { state in
            switch state.phase {
            case .buffering:
                state.count -= count
                return 0
            case .iterated:
                state.count -= count
                return -count
            case .overflowed, .ended: return 0
            }
        }
    }

    /// Changes the state with `body`, which returns the number of bytes by which the request's backlog grows, negative if it
    /// shrinks. Passes the number to `changeBacklog`, outside of the lock. The changes of two threads may reach the request in
    /// the wrong order, which does not affect their sum.
    private func change(_ body: (inout State) -> Int) {
        let difference = state.write(body)
        if difference != 0 { changeBacklog(difference) }
    }
}
