// SPDX-License-Identifier: MIT

/// The response of a request's handler, for those who wait for it: what a `DataTask` and a `DownloadTask` share.
///
/// The handler puts it here once, on the root queue; any number of tasks may wait, before and after. There is no task of
/// its own that waits: a request costs no more threads for being awaited. Whoever waits until then is resumed by that
/// handler and by nothing else; that a waiting task was cancelled is the request's affair, which calls its handlers
/// however it ends.
final class AwaitedResponse<Response: Sendable>: Sendable {
    private enum State {
        case pending(CheckedContinuation<Void, Never>?, others: [CheckedContinuation<Void, Never>])
        case come(Response)
    }

    private let state = Protected(State.pending(nil, others: []))

    /// Puts the response here and lets everybody go who waits.
    func come(_ response: Response) {
        let (first, others) = state.write { state in
            guard case .pending(let first, let others) = state else {
                preconditionFailure("a response handler was called twice")
            }
            state = .come(response)
            return (first, others)
        }
        first?.resume()
        for other in others { other.resume() }
    }

    /// The response, as soon as it has come.
    var response: Response {
        get async {
            while true {
                if case .come(let response) = state.read({ $0 }) { return response }
                await withCheckedContinuation { continuation in
                    if !wait(continuation) { continuation.resume() }
                }
            }
        }
    }

    /// Whether there is something to wait for.
    private func wait(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        state.write { state in
            switch state {
            case .pending(nil, let others):
                state = .pending(continuation, others: others)
                return true
            case .pending(let first, var others):
                others.append(continuation)
                state = .pending(first, others: others)
                return true
            case .come: return false
            }
        }
    }
}
