// SPDX-License-Identifier: MIT

/// Passes the response of a request's handler to the tasks that await it. Used by `DataTask` and `DownloadTask`.
///
/// The handler delivers the response once, on the thread that performs the request's last step; any number of tasks may wait,
/// before and after. No extra task is created to wait, so awaiting a request costs no further threads. A waiting task is resumed
/// only by the handler. Cancelling a waiting task does not resume it: the request may be cancelled instead, and calls its handlers
/// however it ends.
final class AwaitedResponse<Response: Sendable>: Sendable {
    private let arrival = ResponseArrival()
    // Written once, before `arrival` is marked, and read only after that; the lock of `arrival` orders the two.
    @exclusivity(unchecked) private nonisolated(unsafe) var content: Response?

    /// Stores the response and resumes all waiting tasks. Called once.
    func arrive(_ response: Response) {
        unsafe content = response
        arrival.mark()
    }

    /// Waits for the response and returns it.
    nonisolated(nonsending) func response(cancelling request: Request?) async -> Response {
        await wait(cancelling: request)
        return arrived
    }

    /// Waits until the response has arrived.
    ///
    /// - Parameter request: The request to cancel when the waiting task is cancelled; nil for none. It is not stored here,
    ///   because its handler holds this object.
    nonisolated(nonsending) func wait(cancelling request: Request?) async {
        await arrival.wait(cancelling: request)
    }

    /// The response. Traps if it has not arrived yet.
    var arrived: Response {
        guard arrival.hasArrived, let response = unsafe content else {
            preconditionFailure("a response is read before it has arrived")
        }
        return response
    }
}

/// Tracks the arrival of a response. Not generic, so that waiting needs no type metadata from the runtime.
private struct ResponseArrival: Sendable {
    private enum State {
        case pending(WaitingTask?, others: [WaitingTask])
        case arrived
    }

    private let state = Protected(State.pending(nil, others: []))

    var hasArrived: Bool {
        state.read { state in
            if case .arrived = state { true } else { false }
        }
    }

    /// The response has arrived: resumes the waiting tasks.
    func mark() {
        let (first, others) = state.write { state in
            guard case .pending(let first, let others) = state else {
                preconditionFailure("a response handler was called twice")
            }
            state = .arrived
            return (first, others)
        }
        first?.goOn()
        for task in others { task.goOn() }
    }

    nonisolated(nonsending) func wait(cancelling request: Request?) async {
        guard let request else { return await wait() }
        await withTaskCancellationHandler {
            await wait()
        } onCancel: {
            request.cancel()
        }
    }

    private nonisolated(nonsending) func wait() async {
        await WaitingTask.wait { task in
            state.write { state in
                switch state {
                case .pending(nil, let others):
                    state = .pending(task, others: others)
                    return true
                case .pending(let first, var others):
                    others.append(task)
                    state = .pending(first, others: others)
                    return true
                case .arrived: return false
                }
            }
        }
    }
}
