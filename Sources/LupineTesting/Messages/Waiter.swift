// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Lets one task wait for a value or an error. The first outcome counts, and later ones are ignored; a cancellation of the task
/// is an outcome, too. Can be used on any thread.
final class Waiter<Value: Sendable>: Sendable {
    private enum State {
        /// No task waits, and there is no outcome yet.
        case idle
        case waiting(CheckedContinuation<Value, any Error>)
        case ended(Result<Value, any Error>)
    }

    private let state = Lock(State.idle)

    /// Waits for the outcome passed to `resume`. May be called once. Throws `CancellationError` when the task is cancelled first.
    func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Result<Value, any Error>? in
                    if case .ended(let outcome) = state { return outcome }
                    state = .waiting(continuation)
                    return nil
                }
                // `resume` was called first.
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            resume(.failure(CancellationError()))
        }
    }

    /// Sets the outcome, and resumes the waiting task. Further calls have no effect.
    func resume(_ outcome: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .idle:
                state = .ended(outcome)
                return nil
            case .waiting(let continuation):
                state = .ended(outcome)
                return continuation
            case .ended: return nil
            }
        }
        continuation?.resume(with: outcome)
    }
}
