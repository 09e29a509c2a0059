// SPDX-License-Identifier: MIT

import Dispatch
import LupineLoading

@testable import Lupine

/// A handler that answers every redirect with a given request or with nil, on another queue.
struct FixedRedirect: RedirectHandler {
    let request: URLRequest?
    let asked = ValueLog<URLRequest>()

    func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void
    ) {
        asked.add(request)
        DispatchQueue(label: "elsewhere").async { completion(self.request) }
    }
}
