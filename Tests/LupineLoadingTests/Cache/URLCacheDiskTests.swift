// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineHTTP
import LupineTLS
import LupineTestKit
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
        #expect(stage.files.count == 3)
        for name in stage.files {
            #expect(try permissions(stage.folder.appendingPathComponent(name).path) == 0o600, "\(name)")
        }

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
        // The entry is in memory now, too.
        #expect(second.currentMemoryUsage == entry.size)
        #expect(second.lookUpAtOnce(request) == .entry("hello"))
        #expect(second.lookUpAtOnce(try CacheStage.request("http://h/a", ["Accept": "y"])) == .nothing)
    }

    /// Entries are not signed: whoever can write to the file could forge any response.
    @Test("a file that other users can write is ignored", arguments: [0o620, 0o602, 0o600])
    func foreignFiles(mode: Int) async throws {
        let request = try CacheStage.request()
        for isIndex in [true, false] {
            try await stage.process { first in
                first.removeAllCachedResponses()
                first.storeCachedResponse(try CacheStage.loaded("a"), for: request)
            }
            let file = isIndex ? stage.folder.appendingPathComponent("index") : try stage.place(request).file
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            try await stage.process { cache in
                #expect(cache.content(request) == (mode == 0o600 ? "a" : nil))
                cache.storeCachedResponse(try CacheStage.loaded("b"), for: request)
            }
            // The next writer creates files of its own.
            #expect(stage.cache().content(request) == "b")
        }
    }

    @Test("foreign files with the names of cache files cost no more than entries", arguments: 0..<4)
    func strangeFiles(kind: Int) async throws {
        let request = try CacheStage.request()
        let other = stage.root.appendingPathComponent("other")
        try await stage.process { $0.storeCachedResponse(try CacheStage.loaded("a"), for: request) }
        let segment = try stage.place(request).file
        for file in [
            "index", "lock", "index.draft", segment.lastPathComponent, "segment-2", "segment-7",
            "segment-1099511627775",
        ] {
            let place = stage.folder.appendingPathComponent(file)
            try? FileManager.default.removeItem(at: place)
            try Data("other's".utf8).write(to: other)
            switch kind {
            case 0: try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            case 1: try FileManager.default.createSymbolicLink(at: place, withDestinationURL: other)
            case 2: #expect(unsafe mkfifo(place.path, 0o600) == 0)
            default: try Data(repeating: 0xFF, count: 100).write(to: place)
            }
            try await stage.process { cache in
                let found = cache.content(request)
                #expect([nil, "a", "c"].contains(found), "\(file)")
                cache.storeCachedResponse(try CacheStage.loaded("b"), for: request)
                #expect(cache.content(request) == "b")
            }
            #expect(try Data(contentsOf: other) == Data("other's".utf8))
            if kind == 0 || file == "lock" { try? FileManager.default.removeItem(at: place) }
            try await stage.process { cache in
                cache.storeCachedResponse(try CacheStage.loaded("c"), for: request)
                await cache.flush()
                cache.memoryCapacity = 0
                #expect(cache.content(request) == "c", "\(file)")
            }
        }
    }

    @Test("a named pipe in place of a cache file blocks nobody")
    func pipes() throws {
        let path = stage.folder.path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(unsafe mkfifo(path + "/pipe", 0o600) == 0)
        #expect(AtomicFile(URL(filePath: path + "/pipe")).read(upTo: 100) == nil)
        #expect(AtomicFile(URL(filePath: path)).read(upTo: 100) == nil)
    }

    @Test("[U-12.3] look-ups see stores and removals as soon as the call returns")
    func visibleAtOnce() async throws {
        let cache = stage.cache(memory: 0)
        let request = try CacheStage.request()
        // Holds the storage queue, so that nothing reaches the disk meanwhile.
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
        #expect(stage.entries.isEmpty)
        gate.signal()
        await cache.flush()
        #expect(stage.entries.count == 1 && cache.content(request) == "d")
        #expect(stage.cache().content(request) == "d")
    }

    @Test("[U-12.3] a look-up waits for the disk only if the disk has the entry")
    func theDiskIsOnlyAskedWhenItMayKnow() async throws {
        let cache = stage.cache(memory: 0)
        let request = try CacheStage.request()
        cache.storeCachedResponse(try CacheStage.loaded("a"), for: request)
        await cache.flush()
        #expect(cache.lookUpAtOnce(try CacheStage.request("http://h/none")) == .nothing)
        #expect(cache.lookUpAtOnce(request) == .later)
        // The index contains the fields that the entry varies by: only a request that matches has to wait for the disk.
        func varied(_ accept: String, _ user: String) throws -> URLRequest {
            try CacheStage.request("http://h/v", ["Accept": accept, "Authorization": user])
        }
        let response = try CacheStage.loaded("v", [("Vary", "Accept")], url: "http://h/v")
        cache.store(CacheStage.entry(response, for: try varied("x", "me")), for: try varied("x", "me"))
        await cache.flush()
        #expect(cache.lookUpAtOnce(try varied("x", "me")) == .later)
        #expect(cache.lookUpAtOnce(try varied("y", "me")) == .nothing)
        #expect(cache.lookUpAtOnce(try varied("x", "you")) == .nothing)
        let emptyCapacity = stage.cache(memory: 0, disk: 0)
        #expect(emptyCapacity.lookUpAtOnce(request) == .nothing)
        #expect(emptyCapacity.cachedResponse(for: request) == nil && emptyCapacity.currentDiskUsage == 0)
        await cache.flush()
    }

    @Test(
        "[U-12.5] Authorization is matched, also by another cache on the folder, and never written to the disk"
    )
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
        for octets in [stage.octets, try Data(contentsOf: stage.root.appendingPathComponent("key"))] {
            #expect(!octets.isEmpty)
            for text in [secret, "c2VjcmV0", "hidden"] {
                #expect(octets.range(of: Data(text.utf8)) == nil)
            }
        }
        #expect(try permissions(stage.root.appendingPathComponent("key").path) == 0o600)
        // Without the key, the entries whose fields were concealed with it are lost, and no others.
        try FileManager.default.removeItem(at: stage.root.appendingPathComponent("key"))
        #expect(await stage.cache().lookUp(request) == nil)
        #expect(stage.cache().content(without) == "mine")
    }

    @Test("[U-12.5] no identifying field is written, not even with a public response")
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
        let shown = stage.octets.ranges(of: Data("h1dden".utf8))
        #expect(shown.count == 2, "the language alone, in the entry and in the index")
        #expect(await stage.cache().lookUp(try request("h1dden"))?.content == "public")
        #expect(await stage.cache().lookUp(try request("other")) == nil)
    }

    @Test("[U-12.4] a no-store response is not written, whoever stores it")
    func noStore() async throws {
        let cache = stage.cache()
        let plain = try CacheStage.request()
        let forbidden = try CacheStage.loaded("x", [("Cache-Control", "private, No-Store")])
        cache.storeCachedResponse(forbidden, for: plain)
        await cache.flush()
        #expect(stage.entries.isEmpty && cache.content(plain) == "x")
        let asked = try CacheStage.request("http://h/b", ["Cache-Control": "no-store"])
        cache.storeCachedResponse(try CacheStage.loaded("y"), for: asked)
        await cache.flush()
        #expect(stage.entries.isEmpty && cache.content(asked) == "y")
    }

    @Test("[U-12.16] a damaged or unreadable entry is a miss and is removed", arguments: 0..<6)
    func damage(kind: Int) async throws {
        let request = try CacheStage.request()
        for isAsynchronous in [true, false] {
            for isAnother in [true, false] {
                let stage = CacheStage()
                func look(_ cache: URLCache) async throws {
                    if isAsynchronous {
                        #expect(await cache.lookUp(request) == nil)
                    } else {
                        #expect(cache.cachedResponse(for: request) == nil)
                    }
                    await cache.flush()
                    #expect(stage.entries.isEmpty && cache.currentDiskUsage == 0)
                }
                try await stage.process(memory: 0) { cache in
                    cache.storeCachedResponse(try CacheStage.loaded("hello"), for: request)
                    await cache.flush()
                    if isAnother { return }
                    try Self.damage(stage, request, kind)
                    try await look(cache)
                }
                guard isAnother else { continue }
                try Self.damage(stage, request, kind)
                try await stage.process(memory: 0) { try await look($0) }
            }
        }
    }

    static func damage(_ stage: CacheStage, _ request: URLRequest, _ kind: Int) throws {
        let (file, range) = try stage.place(request)
        var data = try Data(contentsOf: file)
        switch kind {
        case 0: data = Data()
        case 1: data.removeLast()
        case 2: data[range.upperBound - 1] ^= 1
        case 3: data[range.lowerBound] ^= 1
        case 4: data = Data(repeating: 0x20, count: 2 << 20)
        default:
            try FileManager.default.removeItem(at: file)
            return try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        }
        try data.write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    @Test("[U-12.16] a segment that was cut anywhere yields its whole entries")
    func everyCutOfASegment() async throws {
        let requests = try (0..<3).map { try CacheStage.request("http://h/\($0)") }
        try await stage.process { cache in
            for (index, request) in requests.enumerated() {
                let response = try CacheStage.loaded("content \(index)", url: "http://h/\(index)")
                cache.storeCachedResponse(response, for: request)
            }
        }
        let places = try requests.map { try stage.place($0) }
        let file = places[0].file
        let whole = try Data(contentsOf: file)
        let index = try Data(contentsOf: stage.folder.appendingPathComponent("index"))
        for count in stride(from: 0, through: whole.count, by: 7) {
            let cut = CacheStage()
            try FileManager.default.createDirectory(at: cut.folder, withIntermediateDirectories: true)
            for (name, data) in [("index", index), (file.lastPathComponent, whole.prefix(count))] {
                try data.write(to: cut.folder.appendingPathComponent(name))
            }
            try await cut.process(memory: 0) { cache in
                for (number, request) in requests.enumerated() {
                    let isWhole = places[number].range.upperBound <= count
                    #expect(cache.content(request) == (isWhole ? "content \(number)" : nil), "\(count)")
                }
                // A response that is stored afterwards is found.
                let response = try CacheStage.loaded("new", url: "http://h/1")
                cache.storeCachedResponse(response, for: requests[1])
                await cache.flush()
                #expect(await cache.lookUp(requests[1])?.content == "new")
            }
        }
    }

    @Test("[U-12.1] a folder has one writer; other caches read it, and store in memory only")
    func sharedFolder() async throws {
        let (request, other) = (try CacheStage.request(), try CacheStage.request("http://h/b"))
        let left = stage.cache(memory: 0)
        left.storeCachedResponse(try CacheStage.loaded("l"), for: request)
        await left.flush()
        let right = stage.cache()
        #expect(await right.lookUp(request)?.content == "l")
        #expect(right.currentDiskUsage == left.currentDiskUsage)
        // From now on neither the writer nor the reader sees what the other one stores.
        left.storeCachedResponse(try CacheStage.loaded("m", url: "http://h/b"), for: other)
        await left.flush()
        #expect(await right.lookUp(other) == nil)
        right.storeCachedResponse(try CacheStage.loaded("r"), for: request)
        await right.flush()
        #expect(await right.lookUp(request)?.content == "r")
        #expect(left.content(request) == "l")
        // An entry that the reader has replaced or removed does not come back to it.
        right.memoryCapacity = 0
        #expect(await right.lookUp(request) == nil)
        right.removeAllCachedResponses()
        await right.flush()
        #expect(right.currentDiskUsage == 0 && left.content(request) == "l")
        // An entry that the writer has removed is a miss for a reader that still has it in its index.
        let laterCache = stage.cache(memory: 0)
        #expect(laterCache.content(request) == "l")
        left.removeAllCachedResponses()
        await left.flush()
        #expect(laterCache.content(request) == nil)
        #expect(await laterCache.lookUp(other) == nil)
        #expect(stage.entries.isEmpty && stage.segments.isEmpty)
    }

    enum Removal: CaseIterable {
        case one, parties, since, everything
    }

    @Test(
        "[U-12.1] a reader becomes the writer when there is none; what it removed does not return",
        arguments: Removal.allCases)
    func readerBecomesWriter(_ removal: Removal) async throws {
        let requests = try (0..<5).map { try CacheStage.request("http://h/\($0)") }
        func store(_ content: String, _ number: Int, in cache: URLCache) throws {
            let response = try CacheStage.loaded(content, url: "http://h/\(number)")
            cache.storeCachedResponse(response, for: requests[number])
        }
        func found(_ cache: URLCache) -> [String?] { requests.map { cache.content($0) } }
        let right = stage.cache(memory: 0)
        let start = Date()
        try await stage.process(memory: 0) { left in
            for number in 0..<3 { try store("l", number, in: left) }
            await left.flush()
            #expect(found(right) == ["l", "l", "l", nil, nil])
            switch removal {
            case .one: right.removeCachedResponse(for: requests[0])
            // One URL of which the reader knows no entry, and one of which it knows another entry.
            case .parties: for number in [0, 3] { right.invalidate(try #require(requests[number].url)) }
            case .since: right.removeCachedResponses(since: start)
            case .everything: right.removeAllCachedResponses()
            }
            try store("r", 1, in: right)
            await right.flush()
            // The writer stores the entry that the reader has replaced, and two that it has never seen.
            try store("m", 1, in: left)
            try store("m", 3, in: left)
            try store("m", 4, in: left)
            await left.flush()
            #expect(found(left) == ["l", "m", "l", "m", "m"])
            #expect(found(right)[1] == nil)
        }
        await right.flush()
        let expected: [String?] =
            switch removal {
            case .one: [nil, nil, "l", "m", "m"]
            case .parties: [nil, nil, "l", nil, "m"]
            case .since, .everything: [nil, nil, nil, nil, nil]
            }
        #expect(found(right) == expected)
        try store("w", 0, in: right)
        await right.flush()
        #expect(found(right) == ["w"] + expected.dropFirst())
        #expect(stage.index.cost == right.currentDiskUsage)
        // Another cache finds the same, as a reader of the folder.
        #expect(found(stage.cache(memory: 0)) == ["w"] + expected.dropFirst())
    }

    @Test("[U-12.1] a reader that removed too much to record keeps only the entries that it knows")
    func manyWithdrawals() async throws {
        let (known, other) = (try CacheStage.request("http://h/known"), try CacheStage.request("http://h/b"))
        let right = stage.cache(memory: 0)
        try await stage.process(memory: 0) { left in
            left.storeCachedResponse(try CacheStage.loaded("k", url: "http://h/known"), for: known)
            await left.flush()
            #expect(right.content(known) == "k")
            for number in 0...PendingRemovals.maxAddressCount {
                right.removeCachedResponse(for: try CacheStage.request("http://h/\(number)"))
            }
            left.storeCachedResponse(try CacheStage.loaded("o", url: "http://h/b"), for: other)
        }
        await right.flush()
        #expect(right.content(known) == "k")
        #expect(right.content(other) == nil)
        #expect(stage.entries.map(\.address) == ["http://h/known"])
    }

    @Test("[U-12.1] when a folder's writer has ended, the next cache becomes the writer")
    func nextWriter() async throws {
        let request = try CacheStage.request()
        for round in 0..<3 {
            try await stage.process {
                $0.storeCachedResponse(try CacheStage.loaded("\(round)"), for: request)
            }
            let next = stage.cache(memory: 0)
            #expect(next.content(request) == "\(round)")
        }
        #expect(stage.entries.count == 1 && stage.segments.count <= 2)
    }

    @Test(
        "[U-12.3] files are removed in the order of their last use; reducing the capacity removes the excess at once"
    )
    func eviction() async throws {
        let requests = try (0..<6).map { try CacheStage.request("http://h/\($0)") }
        func response(_ index: Int) throws -> CachedURLResponse {
            try CacheStage.loaded(String(repeating: "x", count: 1_000), url: "http://h/\(index)")
        }
        let size = try await stage.process(memory: 0) { probe in
            probe.storeCachedResponse(try response(0), for: requests[0])
            await probe.flush()
            return probe.currentDiskUsage
        }
        let cache = stage.cache(memory: 0, disk: size * 4)
        cache.removeAllCachedResponses()
        for index in 0..<4 { cache.storeCachedResponse(try response(index), for: requests[index]) }
        await cache.flush()
        #expect(cache.currentDiskUsage == size * 4 && stage.entries.count == 4)
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
        // The look-ups determine the order of last use.
        #expect(await left(cache) == [3, 4] && stage.entries.count == 2)
        // Writes all uses: a batch may have begun between two of the look-ups.
        await cache.flush()
        #expect(await left(stage.cache(memory: 0, disk: size)) == [4])
        cache.diskCapacity = 0
        await cache.flush()
        #expect(stage.entries.isEmpty)
    }

    @Test("[U-12.3] replaced and removed entries do not fill the disk", arguments: [20_000, 200_000])
    func boundedFiles(capacity: Int) async throws {
        let cache = stage.cache(memory: 0, disk: capacity)
        var random = SeededRandom(seed: UInt64(capacity))
        for round in 0..<600 {
            let number = Int.random(in: 0..<100, using: &random)
            let content = String(repeating: "\(round),", count: Int.random(in: 0..<200, using: &random))
            let request = try CacheStage.request("http://h/\(number)")
            cache.storeCachedResponse(try CacheStage.loaded(content, url: "http://h/\(number)"), for: request)
            if round % 7 == 0 { cache.removeCachedResponse(for: request) }
            if round % 3 == 0 { await cache.flush() }
        }
        await cache.flush()
        let segments = stage.octets.count
        // One and a half times the capacity, the segment that is being written, and the index.
        let most = capacity / 2 * 3 + 2 * CacheFolder.segmentLength(capacity) + 100_000
        #expect(cache.currentDiskUsage <= capacity && segments <= most, "\(segments), \(most)")
        #expect(stage.index.cost == cache.currentDiskUsage)
    }

    @Test func anUnwritableDiskLeavesTheMemoryTier() async throws {
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

    @Test("a removed folder is created again") func removedFolder() async throws {
        let cache = stage.cache(memory: 0, disk: 100_000)
        let request = try CacheStage.request()
        cache.storeCachedResponse(try CacheStage.loaded("a"), for: request)
        await cache.flush()
        try FileManager.default.removeItem(at: stage.folder)
        #expect(cache.content(request) == nil)
        // The files that are still open accept writes until the cache notices the loss.
        for round in 0..<100 {
            let content = String(repeating: "x", count: 1_000)
            let url = "http://h/\(round)"
            cache.storeCachedResponse(
                try CacheStage.loaded(content, url: url), for: try CacheStage.request(url))
            await cache.flush()
        }
        #expect(!stage.entries.isEmpty)
    }

    @Test(
        "[U-12.1] by default a cache is in the user's cache folder, under the program's name"
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

    @Test func theKeyFileIsCreatedOnce() throws {
        let place = stage.root.appendingPathComponent("folder/key")
        let key = SecretKeyFile(place).key()
        #expect(key.count == 32 && SecretKeyFile(place).key() == key)
        #expect(throws: (any Error).self) { try AtomicFile(place).create(with: Data([1])) }
        #expect(SecretKeyFile(place).key() == key)
        // A file that contains no key is replaced.
        try Data([1, 2]).write(to: place)
        let other = SecretKeyFile(place).key()
        #expect(other.count == 32 && other != key && SecretKeyFile(place).key() == other)
        let names = try FileManager.default.contentsOfDirectory(
            atPath: place.deletingLastPathComponent().path)
        #expect(names == ["key"])
    }
}
