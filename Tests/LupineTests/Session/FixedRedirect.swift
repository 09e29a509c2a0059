// SPDX-License-Identifier: MIT

import Dispatch
import LupineLoading

@testable import Lupine

/// Answers every redirect with a request, or with none; on another queue.
struct FixedRedirect: RedirectHandler {
    let request: URLRequest?
    let asked = Heard<URLRequest>()

    func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void
    ) {
        asked.add(request)
        DispatchQueue(label: "elsewhere").async { completion(self.request) }
    }
}
