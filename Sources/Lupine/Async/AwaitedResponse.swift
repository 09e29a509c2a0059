// SPDX-License-Identifier: MIT

internal import LupineLoading

/// The response of a request's handler, for those who wait for it: what a `DataTask` and a `DownloadTask` share.
///
/// The handler puts it here once; any number of tasks may wait, before and after. There is no task of
/// its own that waits: a request costs no more threads for being awaited. That a waiting task was cancelled is the request's
/// affair, which calls its handlers however it ends.
final class AwaitedResponse<Response: Sendable>: Sendable {
    private let arrival = ResponseArrival()
    // Written once, before it is said to have come, and looked at only after: the arrival's lock is between the two.
    @exclusivity(unchecked) private nonisolated(unsafe) var content: Response?

    /// Puts the response here and lets everybody go who waits: on an event loop, when its turn ends. Once.
    func come(_ response: Response) {
        unsafe content = response
        if !wakesAtTurnEnd() { arrival.come() }
    }

    /// The response, as soon as it has come.
    nonisolated(nonsending) func response(cancelling request: Request?) async -> Response {
        await come(cancelling: request)
        return arrived
    }

    /// Waits until the response has come.
    ///
    /// - Parameter request: What is cancelled when the task that waits is; nil for nothing. It is not kept here: its handler
    ///   holds this.
    nonisolated(nonsending) func come(cancelling request: Request?) async { await arrival.come(cancelling: request) }

    /// The response, for those who have waited.
    var arrived: Response {
        guard arrival.hasCome, let response = unsafe content else {
            preconditionFailure("a response is looked at before it has come")
        }
        return response
    }
}

extension AwaitedResponse: Waker {
    func turnEnded() { arrival.come() }
}

/// That a response has come, whatever it is a response of: what waits knows no types, which it would have to ask the runtime for.
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

    func come() {
        let (first, others) = state.write { state in
            guard case .pending(let first, let others) = state else {
                preconditionFailure("a response handler was called twice")
            }
            state = .come
            return (first, others)
        }
        first?.goOn()
        for task in others { task.goOn() }
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
