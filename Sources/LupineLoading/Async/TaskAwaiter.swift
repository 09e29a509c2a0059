// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Passes one value or error to one caller that waits for it. The value and the wait may come in either order.
final class TaskAwaiter<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, any Error>)
        case there(Result<Value, any Error>)
        case over
    }

    private let state = Lock(State.empty)

    /// Provides the result. Later results are dropped.
    func give(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .empty:
                state = .there(result)
                return nil
            case .waiting(let continuation):
                state = .over
                return continuation
            case .there, .over: return nil
            }
        }
        waiting?.resume(with: result)
    }

    /// Resumes the task and waits for the result. Cancels the task when the caller is cancelled. Must be called only once.
    func value(of task: URLSessionTask) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value, any Error>? in
                    switch state {
                    case .there(let result):
                        state = .over
                        return result
                    case .empty:
                        state = .waiting(continuation)
                        return nil
                    case .waiting, .over: return .failure(URLError(.unknown))
                    }
                }
                if let result { return continuation.resume(with: result) }
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
    }
}
