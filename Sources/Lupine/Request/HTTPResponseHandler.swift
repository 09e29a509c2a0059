// SPDX-License-Identifier: MIT

internal import Dispatch
internal import LupineLoading

/// The handler that decides whether the content of a response is received. Set by `onHTTPResponse` of data and stream requests;
/// each call replaces the previous handler.
struct HTTPResponseHandler: Sendable {
    /// The completion that the handler calls once, with its decision.
    typealias Answer = @Sendable (Request.ResponseDisposition) -> Void

    let queue: DispatchQueue
    let closure: @Sendable (HTTPURLResponse, @escaping Answer) -> Void

    /// Calls the handler on its queue and passes its decision to `completion`. Cancels the request if the handler decides so.
    /// Without a handler every response is allowed. Called on the root queue, as is `completion`.
    static func ask(
        _ handler: HTTPResponseHandler?, about response: HTTPURLResponse, for request: Request,
        completion: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let handler else { return completion(.allow) }
        handler.queue.async {
            assertNoLockIsHeld()
            handler.closure(response) { disposition in
                if disposition == .cancel { request.cancel() }
                request.underlyingQueue.async { completion(disposition == .cancel ? .cancel : .allow) }
            }
        }
    }
}
