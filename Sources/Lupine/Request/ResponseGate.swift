// SPDX-License-Identifier: MIT

internal import Dispatch
internal import LupineLoading

/// The handler that decides whether the content of a response is received. Set by `onHTTPResponse` of data and stream requests,
/// where a new one replaces it.
struct ResponseGate: Sendable {
    /// The completion that the handler calls once, with its decision.
    typealias Answer = @Sendable (Request.ResponseDisposition) -> Void

    let queue: DispatchQueue
    let closure: @Sendable (HTTPURLResponse, @escaping Answer) -> Void

    /// Calls the gate's handler and passes its decision to `completion`, and cancels the request if the handler decides so.
    /// Without a gate every response is allowed. Called on the root queue, as is `completion`.
    static func ask(
        _ gate: ResponseGate?, about response: HTTPURLResponse, for request: Request,
        completion: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let gate else { return completion(.allow) }
        gate.queue.async {
            assertNoLockIsHeld()
            gate.closure(response) { disposition in
                if disposition == .cancel { request.cancel() }
                request.underlyingQueue.async { completion(disposition == .cancel ? .cancel : .allow) }
            }
        }
    }
}
