// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// Answers every question about what is cached the same way.
struct FixedCaching: CachedResponseHandler {
    enum Answer: Sendable { case none, proposal, replacement }

    let answer: Answer
    let asked = Heard<String>()

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
