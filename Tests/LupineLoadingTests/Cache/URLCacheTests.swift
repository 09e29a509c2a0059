// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import LupineLoading

/// Tests of the memory tier, and of properties of both tiers.
struct URLCacheTests {
    let stage = CacheStage()

    @Test func storedResponsesAreFoundAndRemoved() throws {
        let cache = stage.cache(disk: 0)
        let request = try CacheStage.request()
        #expect(cache.cachedResponse(for: request) == nil)
        let response = try CacheStage.loaded("x", [("A", "b")])
        cache.storeCachedResponse(response, for: request)
        #expect(cache.cachedResponse(for: request) == response)
        #expect(cache.currentMemoryUsage == 1 + "http://h/a".count + 2)
        cache.storeCachedResponse(try CacheStage.loaded("y"), for: request)
        #expect(cache.content(request) == "y")
        cache.removeCachedResponse(for: request)
        #expect(cache.cachedResponse(for: request) == nil && cache.currentMemoryUsage == 0)
        cache.storeCachedResponse(response, for: request)
        cache.removeAllCachedResponses()
        #expect(cache.cachedResponse(for: request) == nil && cache.currentMemoryUsage == 0)
        #expect(stage.entries.isEmpty && cache.currentDiskUsage == 0)
    }

    @Test("[U-12.1] the shared cache: 4 MiB in memory, 20 MiB on the disk, replaceable")
    func shared() {
        let own = URLCache.shared
        defer { URLCache.shared = own }
        #expect(own === URLCache.shared)
        #expect(own.memoryCapacity == 4 << 20 && own.diskCapacity == 20 << 20)
        let other = stage.cache()
        URLCache.shared = other
        #expect(URLCache.shared === other)
    }

    static let keys: [(stored: String, asked: String, isFound: Bool)] = [
        ("http://h/a?b=c", "http://h/a?b=c#d", true), ("http://h/a#x", "http://h/a", true),
        ("http://h/a?b=c", "http://h/a?b=d", false), ("http://h/a?b", "http://h/a", false),
        ("http://h/a", "https://h/a", false), ("http://h/a", "http://h:8080/a", false),
        ("http://h/a", "http://h/A", false), ("http://h/a", "http://h/a/", false),
        ("http://u:s3cret@h/a", "http://h/a", true), ("http://u@h:8080/a?b#c", "http://:p@h:8080/a?b", true),
        ("http://u:p@v@h/a", "http://h/a", true), ("http://h/u@a", "http://h/a", false),
        ("http://h/?u@h", "http://h/?h", false),
    ]

    @Test("[U-12.2] the key is the URL without fragment and user", arguments: keys)
    func key(stored: String, asked: String, isFound: Bool) async throws {
        let cache = stage.cache(memory: 0)
        let inMemory = stage.cache(disk: 0)
        for cache in [cache, inMemory] {
            cache.storeCachedResponse(
                try CacheStage.loaded("x", url: stored), for: try CacheStage.request(stored))
            #expect((cache.cachedResponse(for: try CacheStage.request(asked)) != nil) == isFound)
        }
        await cache.flush()
        #expect((cache.cachedResponse(for: try CacheStage.request(asked)) != nil) == isFound)
    }

    @Test("[U-12.2, U-12.8] an entry's key has no user, and an invalidation removes it for all users")
    func usersOfAnAddress() async throws {
        let cache = stage.cache()
        let named = try CacheStage.request("http://alice:s3cret@h/a")
        let plain = try CacheStage.request("http://h/a")
        cache.store(CacheStage.entry(try CacheStage.loaded("x"), for: named), for: named)
        await cache.flush()
        #expect(stage.entries == [CacheKey(address: "http://h/a", partition: nil)])
        #expect(stage.octets.range(of: Data("s3cret".utf8)) == nil)
        #expect(await stage.cache().lookUp(named)?.content == "x")
        cache.invalidate(try #require(plain.url))
        #expect(await cache.lookUp(named) == nil)
        await cache.flush()
        #expect(stage.entries.isEmpty)
    }

    @Test("[U-12.2] a program's look-up ignores fields and freshness, and only GET is stored")
    func looksUnderTheAddressAlone() async throws {
        for cache in [stage.cache(disk: 0), stage.cache(memory: 0)] {
            let stored = try CacheStage.request("http://h/a", ["Accept": "x", "Authorization": "s"])
            let stale = [("Vary", "Accept"), ("Cache-Control", "max-age=0")]
            cache.storeCachedResponse(try CacheStage.loaded("x", stale), for: stored)
            await cache.flush()
            var other = try CacheStage.request("http://h/a", ["Accept": "y"])
            other.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
            #expect(cache.content(other) == "x")
            #expect(await cache.lookUp(other) == nil)
            #expect(await cache.lookUp(stored)?.content == "x")
            for method in ["POST", "HEAD", "PUT"] {
                other.httpMethod = method
                #expect(cache.cachedResponse(for: other) == nil)
                cache.storeCachedResponse(try CacheStage.loaded("y"), for: other)
                cache.removeCachedResponse(for: other)
                #expect(await cache.lookUp(other) == nil)
            }
            #expect(cache.content(stored) == "x")
        }
    }

    @Test("[U-12.3] the storage policy selects the tiers")
    func policies() async throws {
        let request = try CacheStage.request()
        let cache = stage.cache()
        cache.storeCachedResponse(try CacheStage.loaded("n", policy: .notAllowed), for: request)
        #expect(cache.cachedResponse(for: request) == nil)
        cache.storeCachedResponse(try CacheStage.loaded("a"), for: request)
        await cache.flush()
        #expect(stage.entries.count == 1)
        cache.storeCachedResponse(try CacheStage.loaded("m", policy: .allowedInMemoryOnly), for: request)
        #expect(cache.content(request) == "m")
        await cache.flush()
        // The entry on the disk would answer later requests with a response that is not the last one stored.
        #expect(stage.entries.isEmpty && cache.content(request) == "m")
    }

    @Test("the fields on which a response depends count as its size")
    func sizeOfFields() throws {
        let cache = stage.cache(disk: 0)
        let response = try CacheStage.loaded("x")
        cache.storeCachedResponse(response, for: try CacheStage.request())
        let size = cache.currentMemoryUsage
        let token = String(repeating: "t", count: 1_000)
        for (name, added) in [("Authorization", 1_000), ("Cookie", "cookie:".count + 1_000), ("X", 0)] {
            cache.storeCachedResponse(response, for: try CacheStage.request("http://h/a", [name: token]))
            #expect(cache.currentMemoryUsage == size + added, "\(name)")
        }
    }

    @Test("[U-12.3] the program's responses may fill a tier, a load's a twentieth of it")
    func sizes() async throws {
        let request = try CacheStage.request()
        let response = try CacheStage.loaded(String(repeating: "x", count: 100), [("A", "b")])
        let entry = CacheStage.entry(response, for: request)
        for (isOver, isKept) in [(0, true), (1, false)] {
            let full = stage.cache(memory: entry.size - isOver, disk: 0)
            full.storeCachedResponse(response, for: request)
            #expect((full.cachedResponse(for: request) != nil) == isKept)
            let shared = stage.cache(memory: entry.size * 20 - isOver, disk: 0)
            shared.store(entry, for: request)
            #expect((shared.cachedResponse(for: request) != nil) == isKept)
            #expect((shared.largestEntry >= entry.size) == isKept)
        }
        let octets = try #require(
            CacheEntryFormat.octets(of: entry, address: "http://h/a"))
        for (isOver, isKept) in [(0, true), (1, false)] {
            await stage.process(memory: 0, disk: octets.count - isOver) { full in
                full.storeCachedResponse(response, for: request)
                await full.flush()
                #expect((full.cachedResponse(for: request) != nil) == isKept)
                #expect(full.currentDiskUsage == (isKept ? octets.count : 0))
                full.removeAllCachedResponses()
            }
            await stage.process(memory: 0, disk: octets.count * 20 - isOver) { shared in
                shared.store(entry, for: request)
                await shared.flush()
                #expect((shared.cachedResponse(for: request) != nil) == isKept)
                shared.removeAllCachedResponses()
            }
        }
    }

    @Test("[U-12.3] storing a response that is too large for a tier removes the older one")
    func tooLarge() async throws {
        let request = try CacheStage.request()
        let cache = stage.cache(memory: 5_000, disk: 5_000)
        cache.storeCachedResponse(try CacheStage.loaded("old"), for: request)
        await cache.flush()
        cache.store(
            CacheStage.entry(try CacheStage.loaded(String(repeating: "x", count: 4_000)), for: request),
            for: request)
        #expect(cache.cachedResponse(for: request) == nil)
        await cache.flush()
        #expect(stage.entries.isEmpty && cache.cachedResponse(for: request) == nil)
    }

    @Test("[U-12.3] entries are removed in the order of their last use, as in a model", arguments: 1...10)
    func model(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let cache = stage.cache(memory: 1_000, disk: 0)
        var model: [(key: Int, size: Int)] = []
        var capacity = 1_000
        for _ in 0..<500 {
            let number = Int.random(in: 0..<15, using: &random)
            let request = try CacheStage.request("http://h/\(number)")
            let index = model.firstIndex { $0.key == number }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let count = Int.random(in: 0..<300, using: &random)
                let response = try CacheStage.loaded(
                    String(repeating: "x", count: count), url: "http://h/\(number)")
                let size = CacheStage.entry(response, for: request).size
                cache.storeCachedResponse(response, for: request)
                if let index { model.remove(at: index) }
                if size <= capacity { model.append((number, size)) }
            case 5..<8:
                #expect((cache.cachedResponse(for: request) != nil) == (index != nil))
                if let index { model.append(model.remove(at: index)) }
            case 8:
                cache.removeCachedResponse(for: request)
                if let index { model.remove(at: index) }
            default:
                capacity = Int.random(in: 200..<1_200, using: &random)
                cache.memoryCapacity = capacity
            }
            while model.reduce(0, { $0 + $1.size }) > capacity { model.removeFirst() }
            #expect(cache.currentMemoryUsage == model.reduce(0) { $0 + $1.size })
        }
    }

    @Test func responsesCanBeRemovedSinceATime() async throws {
        let cache = stage.cache()
        let requests = try (0..<4).map { try CacheStage.request("http://h/\($0)") }
        let old = Date(timeIntervalSinceNow: -100)
        for (index, request) in requests.enumerated() {
            let response = try CacheStage.loaded("x", url: "http://h/\(index)")
            let entry = CacheEntry(
                response: response, http: response.response as? HTTPURLResponse, requestTime: old,
                responseTime: old,
                storedTime: old.addingTimeInterval(Double(index) * 10),
                vary: CacheStage.entry(response, for: request).vary, provenance: .program,
                writtenInfo: nil)
            let key = CacheKey(address: "http://h/\(index)", partition: nil)
            cache.store.store(entry, key, request: request, limits: .program)
            // Some entries are on the disk, the others are still to be written.
            if index == 2 { await cache.flush() }
        }
        func left() -> [Int] { (0..<4).filter { cache.cachedResponse(for: requests[$0]) != nil } }
        cache.removeCachedResponses(since: old.addingTimeInterval(20.5))
        #expect(left() == [0, 1, 2])
        cache.removeCachedResponses(since: old.addingTimeInterval(10))
        #expect(left() == [0])
        await cache.flush()
        #expect(left() == [0] && stage.entries.count == 1)
        cache.memoryCapacity = 0
        #expect(left() == [0])
        cache.removeCachedResponses(since: .distantPast)
        #expect(left() == [])
        await cache.flush()
        #expect(stage.entries.isEmpty)
    }

    @Test("[U-12.8] an invalidation removes from both tiers")
    func invalidation() async throws {
        let cache = stage.cache()
        let request = try CacheStage.request("http://h/a?b")
        cache.storeCachedResponse(try CacheStage.loaded("x"), for: request)
        await cache.flush()
        cache.invalidate(try #require(URL(string: "http://h/a?b#c")))
        #expect(cache.lookUpAtOnce(request) == .nothing && cache.cachedResponse(for: request) == nil)
        await cache.flush()
        #expect(stage.entries.isEmpty)
    }

    @Test(
        "[U-12.13] a refreshed entry replaces the old one, or removes it if it may not be stored")
    func updates() async throws {
        let cache = stage.cache()
        let request = try CacheStage.request()
        cache.store(CacheStage.entry(try CacheStage.loaded("x"), for: request), for: request)
        cache.update(CacheStage.entry(try CacheStage.loaded("y"), for: request), for: request)
        #expect(await cache.lookUp(request)?.content == "y")
        let secret = try CacheStage.loaded("z", [("Cache-Control", "no-store")])
        cache.update(CacheStage.entry(secret, for: request), for: request)
        #expect(await cache.lookUp(request) == nil)
        await cache.flush()
        #expect(stage.entries.isEmpty)
    }

    final class DeinitWatcher {
        let onEnd: () -> Void
        init(_ onEnd: @escaping () -> Void) { self.onEnd = onEnd }
        deinit { onEnd() }
    }

    @Test func deinitOfAStoredValueMayUseTheCache() throws {
        let cache = stage.cache(memory: 2_000, disk: 0)
        let request = try CacheStage.request()
        func watched() throws -> CachedURLResponse {
            let watcher = DeinitWatcher { _ = cache.currentMemoryUsage }
            return CachedURLResponse(
                response: try CacheStage.loaded("x").response, data: Data(count: 900),
                userInfo: ["w": watcher], storagePolicy: .allowed)
        }
        cache.storeCachedResponse(try watched(), for: request)
        cache.storeCachedResponse(try watched(), for: request)
        cache.storeCachedResponse(try watched(), for: try CacheStage.request("http://h/b"))
        cache.storeCachedResponse(try watched(), for: try CacheStage.request("http://h/c"))
        cache.memoryCapacity = 1_000
        cache.removeCachedResponse(for: try CacheStage.request("http://h/c"))
        cache.storeCachedResponse(try watched(), for: request)
        cache.removeAllCachedResponses()
        #expect(cache.currentMemoryUsage == 0)
    }
}
