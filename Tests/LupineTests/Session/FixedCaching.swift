// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// A handler that answers every question about a cached response in the same way.
struct FixedCaching: CachedResponseHandler {
    enum Answer: Sendable { case none, proposal, replacement }

    let answer: Answer
    let asked = ValueLog<String>()

    init(_ answer: Answer) { self.answer = answer }

    func dataTask(
        _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
        completion: @escaping (CachedURLResponse?) -> Void
    ) {
        asked.add(response.response.url?.path ?? "")
        switch answer {
        case .none: completion(nil)
        case .proposal: completion(response)
        case .replacement:
            completion(
                CachedURLResponse(
                    response: response.response, data: Data("replaced".utf8), userInfo: ["key": "value"],
                    storagePolicy: .allowedInMemoryOnly))
        }
    }
}
