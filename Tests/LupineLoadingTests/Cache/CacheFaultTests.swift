// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineTestKit
import Testing

@testable import LupineLoading
@testable import LupineTransport

/// A disk that is full or fails: stored entries may be lost, but replaced or removed ones do not come back.
struct CacheFaultTests {
    let stage = CacheStage()
    let requests = (0..<4).compactMap { try? CacheStage.request("http://h/\($0)") }

    func response(_ content: String, _ number: Int) throws -> CachedURLResponse {
        try CacheStage.loaded(content, url: "http://h/\(number)")
    }

    func store(_ content: String, _ number: Int, in cache: URLCache) throws {
        cache.storeCachedResponse(try response(content, number), for: requests[number])
    }

    func found(_ cache: URLCache) -> [String?] { requests.map { cache.content($0) } }

    /// Holds the storage queue while `body` makes changes, and then writes them while these errors are injected into `call`.
    func whileFailing(
        _ call: Syscall, _ errors: [Errno], _ cache: URLCache, _ body: () throws -> Void
    ) async rethrows {
        let gate = DispatchSemaphore(value: 0)
        // `body` runs only once the queue is held, since an earlier write may still be in progress.
        await withCheckedContinuation { isHeld in
            StorageQueue.run {
                isHeld.resume()
                gate.wait()
                SyscallFaults.inject(errors, in: call)
                cache.store.writeChanges(upTo: .max)
                SyscallFaults.removeUnused(call)
            }
        }
        defer { gate.signal() }
        try body()
    }

    @Test(
        "[U-12.16] on a full disk the pending writes are lost, and no replaced entry returns",
        arguments: 1..<6)
    func fullDisk(count: Int) async throws {
        let errors = [Errno](repeating: Errno(rawValue: ENOSPC), count: count)
        try await stage.process(memory: 0) { cache in
            for number in 0..<3 { try store("old", number, in: cache) }
            await cache.flush()
            try await whileFailing(.write, errors, cache) {
                try store("new", 0, in: cache)
                cache.removeCachedResponse(for: requests[1])
                // Until they are written, changes are pending and visible.
                #expect(found(cache) == ["new", nil, "old", nil])
            }
            await cache.flush()
            let left = found(cache)
            #expect(left[0] == nil && left[1] == nil && left[3] == nil)
            // If the index cannot be written at all, it is emptied.
            #expect(left[2] == (count < 3 ? "old" : nil))
            #expect(stage.index.cost == cache.currentDiskUsage)
            try store("later", 3, in: cache)
            await cache.flush()
            #expect(found(cache) == [nil, nil, left[2], "later"])
        }
        await stage.process(memory: 0) { cache in
            #expect(found(cache) == [nil, nil, count < 3 ? "old" : nil, "later"])
        }
    }

    @Test("[U-12.16] if removals cannot be written, the cache forgets all entries", arguments: 1..<5)
    func removals(count: Int) async throws {
        let errors = [Errno](repeating: Errno(rawValue: EIO), count: count)
        try await stage.process(memory: 0) { cache in
            for number in 0..<3 { try store("old", number, in: cache) }
            await cache.flush()
            await whileFailing(.write, errors, cache) { cache.removeCachedResponse(for: requests[1]) }
            await cache.flush()
            #expect(found(cache)[1] == nil)
        }
        await stage.process(memory: 0) { cache in
            #expect(found(cache) == (count < 2 ? ["old", nil, "old", nil] : [nil, nil, nil, nil]))
        }
    }

    @Test("without descriptors nothing is written; later everything is", arguments: [EMFILE, ENOSPC, EACCES])
    func openings(number: Int32) async throws {
        try await stage.process(memory: 0) { try store("old", 0, in: $0) }
        for count in 1..<8 {
            let stage = CacheStage()
            try await stage.process(memory: 0) { cache in
                let errors = [Errno](repeating: Errno(rawValue: number), count: count)
                try await whileFailing(.open, errors, cache) { try store("new", 0, in: cache) }
                await cache.flush()
                let content = cache.content(requests[0])
                #expect(content == nil || content == "new")
                try store("later", 1, in: cache)
                await cache.flush()
                let later = cache.content(requests[1])
                #expect(later == "later" || number != EMFILE && later == nil, "\(count)")
            }
        }
    }

    @Test("[U-12.16] a folder that cannot be opened is emptied later", arguments: 1..<8)
    func clearing(count: Int) async throws {
        try await stage.process(memory: 0) { try store("old", 0, in: $0) }
        try await stage.process(memory: 0) { cache in
            let errors = [Errno](repeating: Errno(rawValue: EMFILE), count: count)
            await whileFailing(.open, errors, cache) {
                cache.removeAllCachedResponses()
                #expect(found(cache)[0] == nil)
            }
            #expect(found(cache)[0] == nil)
            await cache.flush()
            try store("later", 1, in: cache)
            await cache.flush()
            #expect(found(cache) == [nil, "later", nil, nil])
        }
        await stage.process(memory: 0) { #expect(found($0) == [nil, "later", nil, nil]) }
    }

    @Test("[U-12.3] responses that wait too long: a load's stays in memory only, a program's keeps waiting")
    func waiting() async throws {
        let cache = stage.cache(memory: 64 << 20, disk: 64 << 20)
        let gate = DispatchSemaphore(value: 0)
        StorageQueue.run { gate.wait() }
        let content = Data(repeating: 0x61, count: 1 << 20)
        func response(_ url: URL) throws -> CachedURLResponse {
            let head = try CacheStage.head([])
            return CachedURLResponse(
                response: HTTPURLResponse(url: url, head: head, isDecoded: false), data: content)
        }
        let loaded = try (0..<12).map { try CacheStage.request("http://h/loaded/\($0)") }
        let stored = try (0..<12).map { try CacheStage.request("http://h/stored/\($0)") }
        for request in loaded {
            let url = try #require(request.url)
            cache.store(CacheStage.entry(try response(url), for: request), for: request)
        }
        let fitting = CacheStore.maxWaitingBytes / (content.count + 20)
        #expect(cache.store.droppedCount == loaded.count - fitting)
        for request in stored {
            cache.storeCachedResponse(try response(try #require(request.url)), for: request)
        }
        #expect(cache.store.droppedCount == loaded.count - fitting)
        // All are found in the meantime, and afterwards also those that were not written.
        for request in loaded + stored { #expect(cache.lookUpAtOnce(request) != .later) }
        gate.signal()
        await cache.flush()
        for request in loaded + stored { #expect(cache.content(request)?.utf8.count == content.count) }
        #expect(stage.entries.count == fitting + stored.count)
        cache.memoryCapacity = 0
        for (number, request) in loaded.enumerated() {
            #expect((cache.cachedResponse(for: request) != nil) == (number < fitting))
        }
        for request in stored { #expect(cache.cachedResponse(for: request) != nil) }
    }

    @Test("a batch is one write, whatever the number of its entries")
    func batches() async throws {
        let cache = stage.cache(memory: 0)
        let gate = DispatchSemaphore(value: 0)
        StorageQueue.run { gate.wait() }
        for round in 0..<25 {
            for number in requests.indices { try store("\(round)", number, in: cache) }
        }
        gate.signal()
        await cache.flush()
        let octets = Array(try Data(contentsOf: stage.folder.appendingPathComponent("index")))
        // Of the responses that were replaced before they were written, only those in the batch already begun are in the index.
        #expect(CacheLog.contents(of: octets).changes.count <= 2 * requests.count)
        #expect(found(cache) == ["24", "24", "24", "24"])
    }
}
