// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Handles the redirects of a web socket or an event stream: follows those that the options allow. `FetchRedirectHandler` does so
/// for a `Fetch`.
final class CommandRedirectHandler: RedirectHandler {
    private let url: URL
    private let allowance: Guarded<RedirectAllowance>

    /// Creates a handler for the redirects of one request. Failures name its URL.
    init(_ url: URL, _ invocation: Invocation) {
        self.url = url
        allowance = Guarded(RedirectAllowance(invocation))
    }

    /// The failure of a redirect that the options do not allow; nil if there was none.
    var failure: CommandFailure? { allowance.withLock { $0.failure } }

    func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void
    ) {
        completion(allowance.withLock { $0.allowRedirect(from: url, to: request.url) } ? request : nil)
    }
}
