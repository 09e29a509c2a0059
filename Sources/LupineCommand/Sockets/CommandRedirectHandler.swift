// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Handles the redirects of a web socket or an event stream: follows the redirects that the options allow. A `Fetch` has its
/// own handler, `FetchRedirectHandler`.
final class CommandRedirectHandler: RedirectHandler {
    private let url: URL
    private let allowance: Guarded<RedirectAllowance>

    /// Creates a handler for the redirects of one request, whose URL is named in failures.
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
        let isAllowed = allowance.withLock { $0.allowRedirect(from: url, to: request.url) }
        // nil: the redirect is not followed, and its response is the last one.
        completion(isAllowed ? request : nil)
    }
}
