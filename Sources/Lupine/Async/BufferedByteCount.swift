// SPDX-License-Identifier: MIT

/// Counts the bytes of a request's content that are buffered in one asynchronous sequence. Can be used on any thread.
///
/// Before a program iterates the sequence, received data is buffered without back pressure (C-45): a program may iterate two
/// sequences of a request one after the other. If the bytes then exceed a limit, the request fails.
///
/// Once the iteration has started, the bytes are part of the request's backlog, the content that waits for the program: an
/// iteration that is slower than the server slows the server down.
final class BufferedByteCount: Sendable {
    /// The comment at the end of each case names the phases that can follow it.
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
        /// The number of buffered bytes.
        var count = 0
    }

    /// The bytes of one element. When this object is deallocated, it subtracts them from the count. The sequence's buffer stores
    /// it with the element, so that the bytes are also subtracted if the buffer drops the element.
    final class ElementBytes: Sendable {
        private let bufferedBytes: BufferedByteCount
        private let count: Int

        fileprivate init(_ bufferedBytes: BufferedByteCount, _ count: Int) {
            self.bufferedBytes = bufferedBytes
            self.count = count
        }

        deinit { bufferedBytes.subtract(count) }
    }

    private let limit: Int
    private let onOverflow: @Sendable () -> Void
    private let changeBacklog: @Sendable (Int) -> Void
    private let state = Protected(State())

    /// Creates a count of zero bytes.
    ///
    /// - Parameters:
    ///   - limit: The number of bytes that may be buffered before the iteration starts.
    ///   - onOverflow: Called once if more bytes are buffered, on the thread that delivers the bytes beyond the limit.
    ///   - changeBacklog: Adds a number of bytes to the request's backlog, or removes them if the number is negative.
    init(
        upTo limit: Int = .max, onOverflow: @escaping @Sendable () -> Void = {},
        changeBacklog: @escaping @Sendable (Int) -> Void
    ) {
        self.limit = limit
        self.onOverflow = onOverflow
        self.changeBacklog = changeBacklog
    }

    /// Adds the bytes of an element that is about to be buffered. Returns the object that subtracts them later. If
    /// `mayExceedLimit` is true, the caller calls `checkLimit` when the element is in the buffer.
    func add(bytes count: Int) -> (elementBytes: ElementBytes, mayExceedLimit: Bool) {
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
        return (ElementBytes(self, count), mayExceedLimit)
    }

    /// Calls `onOverflow` if more bytes are buffered than the limit allows. Elements that the buffer has dropped do not count,
    /// nor do those of a sequence that has been deallocated.
    func checkLimit() {
        let overflows = state.write { state in
            guard case .buffering = state.phase, state.count > limit else { return false }
            state.phase = .overflowed
            return true
        }
        if overflows { onOverflow() }
    }

    /// Called when an iteration starts. Adds the bytes that are buffered so far to the request's backlog.
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

    /// Called when the iteration has ended. Removes the sequence's bytes from the request's backlog.
    func endIteration() {
        change { state in
            defer { state = State(phase: .ended) }
            switch state.phase {
            case .iterated: return -state.count
            case .buffering, .overflowed, .ended: return 0
            }
        }
    }

    /// Subtracts the bytes of an element that has left the buffer.
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

    /// Changes the state with `body`, and the request's backlog by the number of bytes that `body` returns. The backlog shrinks
    /// if the number is negative.
    ///
    /// Calls `changeBacklog` outside of the lock. The changes of two threads may reach the request in the wrong order, which does
    /// not affect their sum.
    private func change(_ body: (inout State) -> Int) {
        let difference = state.write(body)
        if difference != 0 { changeBacklog(difference) }
    }
}
