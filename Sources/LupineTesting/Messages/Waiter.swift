// SPDX-License-Identifier: MIT

internal import LupineTransport

/// A one-shot continuation for a value or an error. The first outcome counts, including cancellation. Can be used on any
/// thread.
final class Waiter<Value: Sendable>: Sendable {
    private enum State {
        case nobody
        case waiting(CheckedContinuation<Value, any Error>)
        case over(Result<Value, any Error>)
    }

    private let state = Lock(State.nobody)

    /// Waits for the outcome passed to `resume`. Called at most once. Throws `CancellationError` when the task is cancelled
    /// first.
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

    /// Ends the wait; further calls have no effect.
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
