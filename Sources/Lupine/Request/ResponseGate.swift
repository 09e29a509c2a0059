// SPDX-License-Identifier: MIT

internal import Dispatch
internal import LupineLoading

/// The handler that decides whether the content of a response is received: `onHTTPResponse` of data and stream requests. A
/// request has one, the last that was set.
struct ResponseGate: Sendable {
    /// Called once, with the decision about the content.
    typealias Answer = @Sendable (Request.ResponseDisposition) -> Void

    let queue: DispatchQueue
    let closure: @Sendable (HTTPURLResponse, @escaping Answer) -> Void

    /// Asks the gate; without one every response is allowed. Called on the root queue, as is `completion`.
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
