// SPDX-License-Identifier: MIT

public import LupineLoading

/// Decides whether redirects are followed, for a session or for one request (`Request.redirect(using:)`). The handler of the
/// request takes precedence over that of the session.
public protocol RedirectHandler: Sendable {
    /// Calls the completion with the request to send next, which may differ from the proposed request; with nil the task ends
    /// with the redirect as its response. Called on the session's root queue; the completion may be called from any thread.
    func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void)
}
