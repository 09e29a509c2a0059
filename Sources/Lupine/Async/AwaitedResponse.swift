// SPDX-License-Identifier: MIT

import Dispatch

/// Passes the response of a request's handler to the tasks that await it. Used by `DataTask` and `DownloadTask`.
///
/// The handler delivers the response once, on the root queue; any number of tasks may wait, before and after. No extra task
/// is created to wait, so awaiting a request costs no further threads. A waiting task is resumed only by the handler, in one
/// batch with tasks that await other responses, see `ResumptionBatch`. Cancelling a waiting task does not resume it: the request
/// may be cancelled instead, and calls its handlers however it ends.
final class AwaitedResponse<Response: Sendable>: Sendable {
    private let arrival = ResponseArrival()
    // Written once, before `arrival` is marked as come, and read only after that; the lock of `arrival` orders the two.
    @exclusivity(unchecked) private nonisolated(unsafe) var content: Response?

    /// Stores the response and resumes all waiting tasks. Called once, on the request's root queue, `rootQueue`.
    func come(_ response: Response, on rootQueue: DispatchQueue) {
        unsafe content = response
        arrival.come(on: rootQueue)
    }

    /// Waits for the response and returns it.
    nonisolated(nonsending) func response(cancelling request: Request?) async -> Response {
        await come(cancelling: request)
        return arrived
    }

    /// Waits until the response has come.
    ///
    /// - Parameter request: The request to cancel when the waiting task is cancelled; nil for none. It is not stored here,
    ///   because its handler holds this object.
    nonisolated(nonsending) func come(cancelling request: Request?) async {
        await arrival.come(cancelling: request)
    }

    /// The response. Traps when it has not come yet.
    var arrived: Response {
        guard arrival.hasCome, let response = unsafe content else {
            preconditionFailure("a response is looked at before it has come")
        }
        return response
    }
}

/// Tracks the arrival of a response. Not generic, so that waiting needs no type metadata from the runtime.
private struct ResponseArrival: Sendable {
    private enum State {
        case pending(WaitingTask?, others: [WaitingTask])
        case come
    }

    private let state = Protected(State.pending(nil, others: []))

    var hasCome: Bool {
        state.read { state in
            if case .come = state { true } else { false }
        }
    }

    func come(on rootQueue: DispatchQueue) {
        let (first, others) = state.write { state in
            guard case .pending(let first, let others) = state else {
                preconditionFailure("a response handler was called twice")
            }
            state = .come
            return (first, others)
        }
        guard let first else { return }
        if let batch = ResumptionBatch.current {
            batch.letGo(first, others, behind: rootQueue)
        } else {
            first.goOn()
            for task in others { task.goOn() }
        }
    }

    nonisolated(nonsending) func come(cancelling request: Request?) async {
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
                case .come: return false
                }
            }
        }
    }
}
