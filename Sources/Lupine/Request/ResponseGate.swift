// SPDX-License-Identifier: MIT

internal import Dispatch
internal import LupineLoading

/// Who decides whether the content of a response is taken: `onHTTPResponse` of data and stream requests. There is one, the
/// last that was set.
struct ResponseGate: Sendable {
    /// Answers once, with what is to become of the content.
    typealias Answer = @Sendable (Request.ResponseDisposition) -> Void

    let queue: DispatchQueue
    let closure: @Sendable (HTTPURLResponse, @escaping Answer) -> Void

    /// Asks; without a gate every response may come in. `completion` is called on the root queue. In a step.
    static func ask(
        _ gate: ResponseGate?, about response: HTTPURLResponse, for request: Request,
        completion: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let gate else { return completion(.allow) }
        request.tellNotes()
        gate.queue.async {
            assertNoLockIsHeld()
            gate.closure(response) { disposition in
                if disposition == .cancel { request.cancel() }
                request.underlyingQueue.async { completion(disposition == .cancel ? .cancel : .allow) }
            }
        }
    }
}
