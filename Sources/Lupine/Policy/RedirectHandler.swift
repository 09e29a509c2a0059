// SPDX-License-Identifier: MIT

public import LupineLoading

/// Decides about redirects: a session's, or one request's (`Request.redirect(using:)`), which comes first.
public protocol RedirectHandler: Sendable {
    /// Gives the request to go on with, which may be another than the proposed one; nil takes the redirect itself as the
    /// response. Called on the session's root queue; the completion may be called from any thread.
    func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void)
}
