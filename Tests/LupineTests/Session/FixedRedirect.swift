// SPDX-License-Identifier: MIT

import Dispatch
import LupineLoading

@testable import Lupine

/// A redirect handler that answers every redirect with a given request or with nil, on a new queue, and records the proposed
/// requests.
struct FixedRedirect: RedirectHandler {
    let request: URLRequest?
    let calls = ValueLog<URLRequest>()

    func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void
    ) {
        calls.add(request)
        DispatchQueue(label: "elsewhere").async { completion(self.request) }
    }
}
