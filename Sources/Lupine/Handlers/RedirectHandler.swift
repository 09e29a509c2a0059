// SPDX-License-Identifier: MIT

public import LupineLoading

/// Decides about redirects, for a session or for one request (`Request.redirect(using:)`). The handler of the request takes
/// precedence.
public protocol RedirectHandler: Sendable {
    /// Calls the completion with the request to send next, which may differ from the proposed request; with nil the redirect
    /// itself becomes the response. Called on the session's root queue; the completion may be called from any thread.
    func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void)
}
