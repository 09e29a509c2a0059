// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// A cached response handler that gives the same answer for every response, and records the paths.
struct FixedCaching: CachedResponseHandler {
    enum Answer: Sendable { case none, proposal, replacement }

    let answer: Answer
    let calls = ValueLog<String>()

    init(_ answer: Answer) { self.answer = answer }

    func dataTask(
        _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
        completion: @escaping (CachedURLResponse?) -> Void
    ) {
        calls.add(response.response.url?.path ?? "")
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
