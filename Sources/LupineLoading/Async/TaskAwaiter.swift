// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Passes the result of a task to one `async` caller, which may begin to wait before or after the task completes.
final class TaskAwaiter<Value: Sendable>: Sendable {
    private enum State {
        /// There is no result, and the caller does not wait yet.
        case pending
        /// The caller waits for the result.
        case waiting(CheckedContinuation<Value, any Error>)
        /// There is a result, for which the caller has not asked yet.
        case completed(Result<Value, any Error>)
        /// The caller has received the result.
        case consumed
    }

    private let state = Lock(State.pending)

    /// Passes the result to the caller. Only the first call has an effect.
    func complete(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .pending:
                state = .completed(result)
                return nil
            case .waiting(let continuation):
                state = .consumed
                return continuation
            case .completed, .consumed: return nil
            }
        }
        continuation?.resume(with: result)
    }

    /// Resumes the task and waits for the result. Cancels the task if the calling Swift task is cancelled. May be called only
    /// once.
    func value(of task: URLSessionTask) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value, any Error>? in
                    switch state {
                    case .completed(let result):
                        state = .consumed
                        return result
                    case .pending:
                        state = .waiting(continuation)
                        return nil
                    // This is a second call, which is not allowed.
                    case .waiting, .consumed: return .failure(URLError(.unknown))
                    }
                }
                if let result { return continuation.resume(with: result) }
                // The task starts only now, so that its result finds the continuation even if it completes at once.
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
    }
}
