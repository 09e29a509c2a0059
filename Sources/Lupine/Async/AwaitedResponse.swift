// SPDX-License-Identifier: MIT

/// Passes the response of a request to the Swift tasks that await it. Used by `DataTask` and `DownloadTask`.
///
/// The request's handler calls `store` once, on the thread that performs the request's last step. Any number of tasks may wait
/// for the response before that, or read it afterwards. Waiting creates no task and needs no thread.
///
/// Only `store` resumes a waiting task. The cancellation of a waiting task does not resume it, but may cancel the request. A
/// cancelled request calls its handlers too, so that `store` is always called.
final class AwaitedResponse<Response: Sendable>: Sendable {
    private let arrival = ResponseArrival()
    // Written once, before `arrival.markArrived()`, and read only after `arrival.hasArrived` is true. The lock of `arrival`
    // orders the write before the reads.
    @exclusivity(unchecked) private nonisolated(unsafe) var content: Response?

    /// Stores the response and resumes all waiting tasks. Called once.
    func store(_ response: Response) {
        unsafe content = response
        arrival.markArrived()
    }

    /// Waits for the response and returns it. If the waiting task is cancelled, cancels `request`, unless that is nil.
    nonisolated(nonsending) func response(cancelling request: Request?) async -> Response {
        await wait(cancelling: request)
        return storedResponse
    }

    /// Waits until the response has been stored.
    ///
    /// - Parameter request: The request to cancel when the waiting task is cancelled; nil for none. A parameter and not a
    ///   property, because the request's handler retains this object: the two would retain each other.
    nonisolated(nonsending) func wait(cancelling request: Request?) async {
        await arrival.wait(cancelling: request)
    }

    /// The response. Traps if none has been stored yet.
    var storedResponse: Response {
        guard arrival.hasArrived, let response = unsafe content else {
            preconditionFailure("a response is read before it has arrived")
        }
        return response
    }
}

/// Records whether a response has arrived, and suspends tasks until then. Separate from the generic class above, so that waiting
/// needs no type metadata from the Swift runtime.
private struct ResponseArrival: Sendable {
    private enum State {
        /// The response has not arrived. The first waiting task is stored outside of the array, because usually there is no
        /// other.
        case pending(first: WaitingTask?, others: [WaitingTask])
        case arrived
    }

    private let state = Protected(State.pending(first: nil, others: []))

    var hasArrived: Bool {
        state.read { state in
            if case .arrived = state { true } else { false }
        }
    }

    /// Records the arrival of the response, and resumes the waiting tasks. Called once.
    func markArrived() {
        let (first, others) = state.write { state in
            guard case .pending(let first, let others) = state else {
                preconditionFailure("a response handler was called twice")
            }
            state = .arrived
            return (first, others)
        }
        first?.resume()
        for task in others { task.resume() }
    }

    /// Suspends the calling task until the response has arrived. If the task is cancelled, cancels `request`, unless that is nil.
    nonisolated(nonsending) func wait(cancelling request: Request?) async {
        guard let request else { return await wait() }
        await withTaskCancellationHandler {
            await wait()
        } onCancel: {
            request.cancel()
        }
    }

    /// Suspends the calling task until the response has arrived.
    private nonisolated(nonsending) func wait() async {
        // The closure returns whether it has stored the task; otherwise the task continues at once.
        await WaitingTask.wait { task in
            state.write { state in
                switch state {
                case .pending(nil, let others):
                    state = .pending(first: task, others: others)
                    return true
                case .pending(let first, var others):
                    others.append(task)
                    state = .pending(first: first, others: others)
                    return true
                case .arrived: return false
                }
            }
        }
    }
}
