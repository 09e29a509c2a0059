// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

struct URLCacheTasksTests {
    let stage = CacheStage()

    func stored(_ cache: URLCache, _ task: URLSessionDataTask) async -> CachedURLResponse? {
        let answer = Lock(CachedURLResponse?.none)
        await withCheckedContinuation { continuation in
            cache.getCachedResponse(for: task) { response in
                answer.withLock { $0 = response }
                continuation.resume()
            }
        }
        return answer.withLock { $0 }
    }

    @Test("[U-12.2] storing for a task stores for its request", arguments: [0, 1 << 20])
    func responses(memory: Int) async throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let cache = stage.cache(memory: memory)
        let request = try CacheStage.request()
        let task = session.dataTask(with: request)
        #expect(await stored(cache, task) == nil)
        let response = try CacheStage.loaded("x")
        cache.storeCachedResponse(response, for: task)
        #expect(cache.cachedResponse(for: request) == response)
        #expect(await stored(cache, task) == response)
        #expect(await stored(cache, session.dataTask(with: try CacheStage.request("http://h/b"))) == nil)
        cache.removeCachedResponse(for: task)
        #expect(cache.cachedResponse(for: request) == nil)
        #expect(await stored(cache, task) == nil)
    }

    @Test func onlyGETIsStoredForATask() async throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let cache = stage.cache()
        var request = try CacheStage.request()
        request.httpMethod = "POST"
        let task = session.dataTask(with: request)
        cache.storeCachedResponse(try CacheStage.loaded("x"), for: task)
        cache.removeCachedResponse(for: task)
        #expect(await stored(cache, task) == nil)
        #expect(cache.cachedResponse(for: try CacheStage.request()) == nil)
    }
}
