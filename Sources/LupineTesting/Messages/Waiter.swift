// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Somebody who waits for a value, and gets it or an error once, from whoever comes first; cancellation counts. Any thread.
final class Waiter<Value: Sendable>: Sendable {
    private enum State {
        case nobody
        case waiting(CheckedContinuation<Value, any Error>)
        case over(Result<Value, any Error>)
    }

    private let state = Lock(State.nobody)

    /// Returns what `resume` is given; one caller at most. Throws `CancellationError` when the task is cancelled first.
    func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Result<Value, any Error>? in
                    if case .over(let outcome) = state { return outcome }
                    state = .waiting(continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            resume(.failure(CancellationError()))
        }
    }

    /// Ends the wait; a second time it means nothing.
    func resume(_ outcome: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .nobody:
                state = .over(outcome)
                return nil
            case .waiting(let continuation):
                state = .over(outcome)
                return continuation
            case .over: return nil
            }
        }
        continuation?.resume(with: outcome)
    }
}
