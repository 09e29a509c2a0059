// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineHTTP
import Testing

@testable import LupineLoading

/// The disk tier.
struct URLCacheDiskTests {
    let stage = CacheStage()

    func permissions(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test func entriesOutliveTheirCache() async throws {
        let request = try CacheStage.request("http://h/a", ["Accept": "x"])
        let lines = [("Vary", "Accept"), ("Set-Cookie", "a"), ("Set-Cookie", "b"), ("ETag", "\"t\"")]
        let stored = CachedURLResponse(
            response: try CacheStage.loaded("", lines).response, data: Data("hello".utf8),
            userInfo: ["k": 1], storagePolicy: .allowed)
        let time = Date(timeIntervalSinceReferenceDate: 700_000_000)
        let first = stage.cache()
        first.store(
            CacheEntry(
                response: stored, for: request, requestTime: time,
                responseTime: time.addingTimeInterval(1)), for: request)
        await first.flush()
        #expect(try permissions(stage.folder.path) == 0o700)
        #expect(try permissions(stage.file(request).path) == 0o600)

        let second = stage.cache()
        #expect(second.currentDiskUsage == first.currentDiskUsage && second.currentDiskUsage > 0)
        #expect(second.currentMemoryUsage == 0)
        #expect(await second.lookUp(try CacheStage.request("http://h/a", ["Accept": "y"])) == nil)
        #expect(second.currentMemoryUsage == 0)
        let entry = try #require(await second.lookUp(request))
        #expect(entry.response == stored && entry.requestTime == time)
        #expect(entry.responseTime == time.addingTimeInterval(1))
        #expect(entry.httpResponse?.fields?.values(of: .setCookie) == ["a", "b"])
        #expect(entry.httpResponse?.fields?.count == 4)
        // Now it is in memory as well.
        #expect(second.currentMemoryUsage == entry.size)
        #expect(second.lookUpAtOnce(request) == .entry("hello"))
        #expect(second.lookUpAtOnce(try CacheStage.request("http://h/a", ["Accept": "y"])) == .nothing)
    }

    /// Entries name no one who vouches for them: whoever can write there could answer anything.
    @Test(
        "a file that others can write to, a pipe, or another user's is no entry",
        arguments: [0o620, 0o602, 0o600])
    func foreignFiles(mode: Int) async throws {
        let request = try CacheStage.request()
        let first = stage.cache()
        first.storeCachedResponse(try CacheStage.loaded("a"), for: request)
        await first.flush()
        let file = try stage.file(request)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        #expect(stage.cache().content(request) == (mode == 0o600 ? "a" : nil))
    }

    @Test("a pipe under the name of a file that is believed holds nobody up")
    func pipes() throws {
        let path = stage.folder.path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(unsafe mkfifo(path + "/pipe", 0o600) == 0)
        #expect(AtomicFile(URL(filePath: path + "/pipe")).read(upTo: 100) == nil)
        #expect(AtomicFile(URL(filePath: path)).read(upTo: 100) == nil)
    }

    @Test("[U-12.3] what is stored or removed is so for look-ups as soon as the call returns")
    func visibleAtOnce() async throws {
        let cache = stage.cache(memory: 0)
        let request = try CacheStage.request()
        // The queue is held up: nothing reaches the disk meanwhile.
        let gate = DispatchSemaphore(value: 0)
        StorageQueue.run { gate.wait() }
        cache.storeCachedResponse(try CacheStage.loaded("a"), for: request)
        #expect(cache.content(request) == "a" && cache.lookUpAtOnce(request) == .entry("a"))
        cache.storeCachedResponse(try CacheStage.loaded("b"), for: request)
        #expect(cache.content(request) == "b" && cache.lookUpAtOnce(request) == .entry("b"))
        cache.removeCachedResponse(for: request)
        #expect(cache.content(request) == nil && cache.lookUpAtOnce(request) == .nothing)
        cache.storeCachedResponse(try CacheStage.loaded("c"), for: request)
        cache.removeAllCachedResponses()
        #expect(cache.content(request) == nil && cache.lookUpAtOnce(request) == .nothing)
        cache.storeCachedResponse(try CacheStage.loaded("d"), for: request)
        #expect(cache.content(request) == "d" && cache.lookUpAtOnce(request) == .entry("d"))
        #expect(stage.files.isEmpty)
        gate.signal()
        await cache.flush()
        #expect(stage.files.count == 1 && cache.content(request) == "d")
        #expect(stage.cache().content(request) == "d")
    }

    @Test func theDiskIsOnlyAskedWhenItMayKnow() async throws {
        let cache = stage.cache(memory: 0)
        let request = try CacheStage.request()
        cache.storeCachedResponse(try CacheStage.loaded("a"), for: request)
        await cache.flush()
        #expect(cache.lookUpAtOnce(try CacheStage.request("http://h/none")) == .nothing)
        #expect(cache.lookUpAtOnce(request) == .later)
        let emptyCapacity = stage.cache(memory: 0, disk: 0)
        #expect(emptyCapacity.lookUpAtOnce(request) == .nothing)
        #expect(emptyCapacity.cachedResponse(for: request) == nil && emptyCapacity.currentDiskUsage == 0)
        await cache.flush()
    }

    @Test(
        "[U-12.5] Authorization is matched, also by another cache on the folder, and is nowhere on the disk")
    func authorization() async throws {
        let secret = "Basic c2VjcmV0LW9mLW1pbmU="
        let request = try CacheStage.request("http://h/a", ["Authorization": secret, "Cookie": "k=hidden"])
        let other = try CacheStage.request("http://h/a", ["Authorization": "Basic x", "Cookie": "k=hidden"])
        let without = try CacheStage.request("http://h/a", ["Cookie": "k=hidden"])
        let first = stage.cache()
        let response = try CacheStage.loaded("mine", [("Vary", "Cookie"), ("Set-Cookie", "s=1")])
        first.store(CacheStage.entry(response, for: request), for: request)
        for cache in [first, stage.cache(), stage.cache(memory: 0)] {
            #expect(await cache.lookUp(other) == nil)
            #expect(await cache.lookUp(without) == nil)
            #expect(await cache.lookUp(request)?.content == "mine")
            #expect(await cache.lookUp(other) == nil)
            await cache.flush()
        }
        for place in [try stage.file(request), stage.root.appendingPathComponent("key")] {
            let octets = try Data(contentsOf: place)
            for text in [secret, "c2VjcmV0", "hidden"] {
                #expect(octets.range(of: Data(text.utf8)) == nil)
            }
        }
        #expect(try permissions(stage.root.appendingPathComponent("key").path) == 0o600)
        // Whoever loses the key loses what was hidden with it, and nothing else.
        try FileManager.default.removeItem(at: stage.root.appendingPathComponent("key"))
        #expect(await stage.cache().lookUp(request) == nil)
        #expect(stage.cache().content(without) == "mine")
    }

    @Test("[U-12.5] nor is any other field that tells who asks, also where the answer is everybody's")
    func fieldsOfUsers() async throws {
        let names = ["X-Api-Key", "X-Tenant", "Cookie", "Accept-Language"]
        func request(_ value: String) throws -> URLRequest {
            try CacheStage.request("http://h/a", Dictionary(uniqueKeysWithValues: names.map { ($0, value) }))
        }
        let cache = stage.cache()
        let response = try CacheStage.loaded(
            "public", [("Vary", names.joined(separator: ", ")), ("Cache-Control", "public, max-age=60")])
        cache.store(CacheStage.entry(response, for: try request("h1dden")), for: try request("h1dden"))
        await cache.flush()
        let octets = try Data(contentsOf: try stage.file(try request("h1dden")))
        let shown = octets.ranges(of: Data("h1dden".utf8))
        #expect(shown.count == 1, "the language alone")
        #expect(await stage.cache().lookUp(try request("h1dden"))?.content == "public")
        #expect(await stage.cache().lookUp(try request("other")) == nil)
    }

    @Test("[U-12.4] no-store does not reach the disk, whoever stores it")
    func noStore() async throws {
        let cache = stage.cache()
        let plain = try CacheStage.request()
        let forbidden = try CacheStage.loaded("x", [("Cache-Control", "private, No-Store")])
        cache.storeCachedResponse(forbidden, for: plain)
        await cache.flush()
        #expect(stage.files.isEmpty && cache.content(plain) == "x")
        let asked = try CacheStage.request("http://h/b", ["Cache-Control": "no-store"])
        cache.storeCachedResponse(try CacheStage.loaded("y"), for: asked)
        await cache.flush()
        #expect(stage.files.isEmpty && cache.content(asked) == "y")
    }

    @Test("[U-12.16] a damaged or unreadable file is a miss and goes", arguments: 0..<5)
    func damage(kind: Int) async throws {
        let request = try CacheStage.request()
        for isAsynchronous in [true, false] {
            let cache = stage.cache(memory: 0)
            cache.storeCachedResponse(try CacheStage.loaded("hello"), for: request)
            await cache.flush()
            let file = try stage.file(request)
            var data = try Data(contentsOf: file)
            switch kind {
            case 0: data = Data()
            case 1: data.removeLast()
            case 2: data[data.count - 1] ^= 1
            case 3: data = Data(repeating: 0x20, count: 2 << 20)
            default:
                try FileManager.default.removeItem(at: file)
                try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            }
            if kind < 4 { try data.write(to: file) }
            let other = stage.cache(memory: 0)
            for cache in [cache, other] {
                if isAsynchronous {
                    #expect(await cache.lookUp(request) == nil)
                } else {
                    #expect(cache.cachedResponse(for: request) == nil)
                }
                await cache.flush()
                #expect(stage.files.isEmpty && cache.currentDiskUsage == 0)
            }
        }
    }

    @Test("[U-12.1] a file that another process removed is a miss, and one that it wrote is read")
    func sharedFolder() async throws {
        let request = try CacheStage.request()
        let (left, right) = (stage.cache(memory: 0), stage.cache(memory: 0))
        left.storeCachedResponse(try CacheStage.loaded("l"), for: request)
        await left.flush()
        #expect(await right.lookUp(request)?.content == "l")
        right.storeCachedResponse(try CacheStage.loaded("r"), for: request)
        await right.flush()
        #expect(left.content(request) == "r")
        #expect(await left.lookUp(request)?.content == "r")
        right.removeAllCachedResponses()
        await right.flush()
        #expect(await left.lookUp(request) == nil)
        #expect(left.content(request) == nil && left.currentDiskUsage == 0)
    }

    @Test("[U-12.3] files go in the order of their last use; less capacity removes at once what is over")
    func eviction() async throws {
        let requests = try (0..<6).map { try CacheStage.request("http://h/\($0)") }
        func response(_ index: Int) throws -> CachedURLResponse {
            try CacheStage.loaded(String(repeating: "x", count: 1_000), url: "http://h/\(index)")
        }
        let probe = stage.cache(memory: 0, disk: 1 << 20)
        probe.storeCachedResponse(try response(0), for: requests[0])
        await probe.flush()
        let size = probe.currentDiskUsage
        let cache = stage.cache(memory: 0, disk: size * 4)
        for index in 0..<4 { cache.storeCachedResponse(try response(index), for: requests[index]) }
        await cache.flush()
        #expect(cache.currentDiskUsage == size * 4 && stage.files.count == 4)
        #expect(await cache.lookUp(requests[0]) != nil)
        cache.storeCachedResponse(try response(4), for: requests[4])
        await cache.flush()
        func left(_ cache: URLCache) async -> [Int] {
            var left: [Int] = []
            for index in 0..<6 where await cache.lookUp(requests[index]) != nil { left.append(index) }
            return left
        }
        #expect(await left(cache) == [0, 2, 3, 4])
        cache.diskCapacity = size * 2
        await cache.flush()
        // The look-ups were the last uses.
        #expect(await left(cache) == [3, 4] && stage.files.count == 2)
        #expect(await left(stage.cache(memory: 0, disk: size)) == [4])
        cache.diskCapacity = 0
        await cache.flush()
        #expect(stage.files.isEmpty)
    }

    @Test("[U-12.1] a cache that shares its folder looks through it again, so that all together stay bounded")
    func boundedTogether() async throws {
        let caches = (0..<4).map { _ in stage.cache(memory: 0, disk: 40_000) }
        for round in 0..<40 {
            for (index, cache) in caches.enumerated() {
                let url = "http://h/\(index)/\(round)"
                let response = try CacheStage.loaded(String(repeating: "x", count: 1_000), url: url)
                cache.storeCachedResponse(response, for: try CacheStage.request(url))
                await cache.flush()
            }
        }
        let sizes = stage.files.compactMap { name in
            try? FileManager.default.attributesOfItem(atPath: stage.folder.appendingPathComponent(name).path)[
                .size] as? NSNumber
        }
        // Each may be behind by an eighth.
        let sum = sizes.reduce(0) { $0 + $1.intValue }
        #expect(sum > 20_000 && sum <= 60_000, "\(sum)")
    }

    @Test func aDiskThatCannotBeWrittenCostsNothingElse() async throws {
        let cache = URLCache(
            memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: URL(fileURLWithPath: "/proc/none"),
            keyFile: URL(fileURLWithPath: "/proc/none/key"))
        let request = try CacheStage.request("http://h/a", ["Authorization": "s"])
        cache.storeCachedResponse(try CacheStage.loaded("x"), for: request)
        await cache.flush()
        #expect(await cache.lookUp(request)?.content == "x")
        #expect(cache.currentDiskUsage == 0)
        cache.memoryCapacity = 0
        #expect(await cache.lookUp(request) == nil)
        cache.removeAllCachedResponses()
        await cache.flush()
    }

    @Test("what is in the folder besides entries is left alone, but for the drafts of writers long gone")
    func otherFiles() async throws {
        let request = try CacheStage.request()
        let cache = stage.cache()
        cache.storeCachedResponse(try CacheStage.loaded("x"), for: request)
        await cache.flush()
        let entry = try stage.file(request).lastPathComponent
        let names = ["note.txt", "a.entry", ".hidden", ".\(entry).draft-new", ".\(entry).draft-old"]
        for name in names { try Data([1]).write(to: stage.folder.appendingPathComponent(name)) }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -10_000)],
            ofItemAtPath: stage.folder.appendingPathComponent(".\(entry).draft-old").path)
        let other = stage.cache()
        #expect(other.currentDiskUsage == cache.currentDiskUsage)
        #expect(!stage.files.contains(".\(entry).draft-old") && stage.files.count == 5)
        other.removeAllCachedResponses()
        await other.flush()
        #expect(stage.files == [".hidden", "a.entry", "note.txt"])
    }

    @Test(
        "[U-12.1] a cache is in the user's folder for caches under the program's name, unless it is told where"
    )
    func places() throws {
        let base = UserFolder.cache(of: "program", environment: ["XDG_CACHE_HOME": "/c"])
        #expect(URLCache.folder(nil, in: base).path == "/c/program/http")
        #expect(URLCache.folder("own/x", in: base).path == "/c/program/own/x")
        #expect(URLCache.folder("/own/x", in: base).path == "/own/x")
        #expect(URLCache.folder(nil).path == UserFolder.cache().path + "/http")
    }

    @Test func capacitiesAreNeverNegative() {
        let cache = URLCache(memoryCapacity: -1, diskCapacity: -1, diskPath: stage.root.path)
        #expect(cache.memoryCapacity == 0 && cache.diskCapacity == 0)
        let other = URLCache(memoryCapacity: 10, diskCapacity: 20, directory: stage.root)
        #expect(other.memoryCapacity == 10 && other.diskCapacity == 20)
        other.memoryCapacity = -5
        other.diskCapacity = -5
        #expect(other.memoryCapacity == 0 && other.diskCapacity == 0)
    }

    @Test func aKeyIsMadeOnce() throws {
        let place = stage.root.appendingPathComponent("folder/key")
        let key = SecretKeyFile(place).key()
        #expect(key.count == 32 && SecretKeyFile(place).key() == key)
        #expect(throws: (any Error).self) { try AtomicFile(place).create(with: Data([1])) }
        #expect(SecretKeyFile(place).key() == key)
        // What is no key is replaced.
        try Data([1, 2]).write(to: place)
        let other = SecretKeyFile(place).key()
        #expect(other.count == 32 && other != key && SecretKeyFile(place).key() == other)
        let names = try FileManager.default.contentsOfDirectory(
            atPath: place.deletingLastPathComponent().path)
        #expect(names == ["key"])
    }
}
