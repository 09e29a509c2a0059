// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import LupineLoading

/// A comparison of both tiers with a dictionary, over random operations: whether an entry is in memory, on its way or on the
/// disk, a look-up returns what was stored last.
struct URLCacheModelTests {
    let stage = CacheStage()

    @Test("[U-12.3] look-ups return the last stored response, from memory or disk", arguments: 1...20)
    func lastStoreIsSeen(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        // Two or three entries fit into memory, all of them on the disk.
        let cache = stage.cache(memory: 5_000, disk: 1 << 20)
        var model: [Int: String] = [:]
        for step in 0..<400 {
            let number = Int.random(in: 0..<8, using: &random)
            let request = try CacheStage.request("http://h/\(number)", ["Authorization": "s"])
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8:
                let content = String(repeating: "\(step),", count: Int.random(in: 1..<300, using: &random))
                let response = try CacheStage.loaded(content, url: "http://h/\(number)")
                if Bool.random(using: &random) {
                    cache.storeCachedResponse(response, for: request)
                } else {
                    cache.store(CacheStage.entry(response, for: request), for: request)
                }
                model[number] = content
            case 8..<11:
                cache.removeCachedResponse(for: request)
                model[number] = nil
            case 11:
                cache.removeAllCachedResponses()
                model = [:]
            case 12:
                cache.removeCachedResponses(since: .distantPast)
                model = [:]
            case 13: await cache.flush()
            case 14..<17: #expect(cache.content(request) == model[number], "step \(step)")
            default: #expect(await cache.lookUp(request)?.content == model[number], "step \(step)")
            }
        }
        await cache.flush()
        let next = stage.cache(memory: 0, disk: 1 << 20)
        for number in 0..<8 {
            let request = try CacheStage.request("http://h/\(number)", ["Authorization": "s"])
            #expect(cache.content(request) == model[number])
            #expect(await next.lookUp(request)?.content == model[number])
        }
        #expect(stage.entries.count == model.count && next.currentDiskUsage == cache.currentDiskUsage)
    }

    @Test func manyThreadsAndTwoCachesLeaveWholeEntries() async throws {
        let caches = [stage.cache(memory: 20_000, disk: 60_000), stage.cache(memory: 0, disk: 60_000)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed: UInt64 in 1...8 {
                group.addTask {
                    var random = SeededRandom(seed: seed)
                    for step in 0..<150 {
                        let cache = caches[Int(seed % 2)]
                        let number = Int.random(in: 0..<12, using: &random)
                        let request = try CacheStage.request("http://h/\(number)")
                        switch Int.random(in: 0..<12, using: &random) {
                        case 0..<5:
                            let content = String(repeating: "\(number),", count: 100 + step)
                            let response = try CacheStage.loaded(content, url: "http://h/\(number)")
                            cache.storeCachedResponse(response, for: request)
                        case 5: cache.removeCachedResponse(for: request)
                        case 6: if step % 50 == 0 { cache.removeAllCachedResponses() }
                        case 7: cache.diskCapacity = Int.random(in: 1_000..<60_000, using: &random)
                        case 8: _ = cache.currentDiskUsage
                        case 9: try Self.check(cache.content(request), number)
                        case 10: cache.removeCachedResponses(since: Date())
                        default: try Self.check(await cache.lookUp(request)?.content, number)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for cache in caches { await cache.flush() }
        let last = stage.cache(memory: 0, disk: 60_000)
        #expect(stage.files.allSatisfy { CacheFolderName($0) != nil } && !stage.files.contains("index.draft"))
        for number in 0..<12 {
            try Self.check(last.content(try CacheStage.request("http://h/\(number)")), number)
        }
        let entries = stage.entries
        await last.flush()
        #expect(stage.entries == entries)
    }

    static func check(_ content: String?, _ number: Int) throws {
        guard let content else { return }
        let parts = content.split(separator: ",")
        #expect(parts.count >= 100 && parts.allSatisfy { $0 == "\(number)" })
    }
}
