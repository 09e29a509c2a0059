// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// One value or error for one who waits for it, whichever comes first.
final class TaskAwaiter<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, any Error>)
        case there(Result<Value, any Error>)
        case over
    }

    private let state = Lock(State.empty)

    /// Gives what is waited for. What is given later is dropped.
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

    /// Resumes the task and waits; cancels it when the one who waits is cancelled. To be called once.
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
