// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Handles the redirects of a web socket or an event stream: follows them as far as the options allow. A `Fetch` has its own
/// handler.
final class RedirectCounter: RedirectHandler {
    private let url: URL
    private let allowance: Guarded<RedirectAllowance>

    /// Creates a handler for the request of a URL, which an error names.
    init(_ url: URL, _ invocation: Invocation) {
        self.url = url
        allowance = Guarded(RedirectAllowance(invocation))
    }

    /// Set when a redirect was not allowed.
    var failure: CommandFailure? { allowance.withLock { $0.failure } }

    func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void
    ) {
        completion(allowance.withLock { $0.allowRedirect(from: url, to: request.url) } ? request : nil)
    }
}
