// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Follows the redirects of a request other than a `Fetch`, as far as the command line allows.
final class RedirectCounter: RedirectHandler {
    private let url: URL
    private let allowance: Guarded<RedirectAllowance>

    /// Creates a handler for a request of `url`.
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
