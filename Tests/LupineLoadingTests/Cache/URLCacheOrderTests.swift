// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Calls that come in the middle of an operation of the storage queue. The queue is held there by the key file: a pipe, which it
/// reads before the test has written to it.
struct URLCacheOrderTests {
    /// A call in the middle of the operation.
    enum Call: CaseIterable {
        case store, storeInMemory, remove, removeAll, removeSince

        func perform(_ cache: URLCache, _ request: URLRequest) throws {
            switch self {
            case .store: cache.storeCachedResponse(try CacheStage.loaded("new"), for: request)
            case .storeInMemory:
                let response = try CacheStage.loaded("new", policy: .allowedInMemoryOnly)
                cache.storeCachedResponse(response, for: request)
            case .remove: cache.removeCachedResponse(for: request)
            case .removeAll: cache.removeAllCachedResponses()
            case .removeSince: cache.removeCachedResponses(since: .distantPast)
            }
        }

        /// The content that is found afterwards; `leavesFile` is true if there is a file.
        var content: String? { self == .store || self == .storeInMemory ? "new" : nil }
        var leavesFile: Bool { self == .store }
    }

    let stage = CacheStage()
    var pipe: URL { stage.root.appendingPathComponent("key") }
    let key = Data((0..<32).map { UInt8($0) })

    init() throws {
        try FileManager.default.createDirectory(at: stage.root, withIntermediateDirectories: true)
        try makePipe()
    }

    func makePipe() throws { try #require(unsafe mkfifo(pipe.path, 0o600) == 0) }

    /// Waits until the cache waits for the key. The descriptor is not inherited by programs that other tests start, which would
    /// keep the pipe open.
    func awaitReader() async throws -> FileHandle {
        let path = pipe.path
        // Opening a pipe blocks until its other end is opened, so it happens on a thread of its own: tests share few threads, and
        // the reader may be waiting for another of these tests.
        let descriptor = await withCheckedContinuation { opened in
            Thread.detachNewThread { opened.resume(returning: unsafe open(path, O_WRONLY | O_CLOEXEC)) }
        }
        try #require(descriptor >= 0)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func giveKey(_ handle: FileHandle) throws {
        try handle.write(contentsOf: key)
        try handle.close()
    }

    /// Runs `body` while the cache waits for the key, and then writes the key.
    func whileKeyIsAwaited(_ body: () throws -> Void) async throws {
        let handle = try await awaitReader()
        try body()
        try giveKey(handle)
    }

    func check(_ cache: URLCache, _ request: URLRequest, _ call: Call) async throws {
        #expect(cache.content(request) == call.content && cache.lookUpAtOnce(request) != .later)
        await cache.flush()
        #expect(cache.content(request) == call.content)
        #expect(await cache.lookUp(request)?.content == call.content)
        #expect(stage.entries.count == (call.leavesFile ? 1 : 0))
        cache.memoryCapacity = 0
        #expect(cache.content(request) == (call.leavesFile ? "new" : nil))
        #expect((cache.currentDiskUsage > 0) == call.leavesFile)
    }

    @Test(
        "[U-12.3] a response being written does not return after it was replaced or removed",
        arguments: Call.allCases)
    func duringAWrite(call: Call) async throws {
        let cache = stage.cache()
        let request = try CacheStage.request("http://h/a", ["Authorization": "s"])
        cache.storeCachedResponse(try CacheStage.loaded("old"), for: request)
        try await whileKeyIsAwaited {
            try call.perform(cache, request)
            #expect(cache.content(request) == call.content)
        }
        try await check(cache, request, call)
    }

    @Test(
        "[U-12.3] a response being read does not return after it was replaced or removed",
        arguments: Call.allCases)
    func duringARead(call: Call) async throws {
        let request = try CacheStage.request("http://h/a", ["Authorization": "s"])
        try await stage.process { first in
            first.storeCachedResponse(try CacheStage.loaded("old"), for: request)
            try await whileKeyIsAwaited {}
        }
        // Makes another pipe: a program that another test was just starting might hold a copy of the first pipe's read end, and
        // opening the write end would not wait for the cache.
        try FileManager.default.removeItem(at: pipe)
        try makePipe()
        let cache = stage.cache()
        let answer = Lock(String?.none)
        cache.lookUp(request, for: .standard) { entry in answer.withLock { $0 = entry?.content } }
        try await whileKeyIsAwaited {
            try call.perform(cache, request)
            #expect(cache.content(request) == call.content)
        }
        await cache.flush()
        // The look-up began before the call.
        #expect(answer.withLock { $0 } == "old")
        try await check(cache, request, call)
    }

    @Test("a child process that is started while a file is read does not inherit it")
    func startedMeanwhile() async throws {
        let cache = stage.cache()
        let request = try CacheStage.request("http://h/a", ["Authorization": "s"])
        cache.storeCachedResponse(try CacheStage.loaded("old"), for: request)
        let handle = try await awaitReader()
        let end = try await Program.run(
            "sh", ["-c", "! ls -l /proc/self/fd | grep -F \"$1\"", "sh", pipe.path])
        #expect(end == .exited(0))
        try giveKey(handle)
        await cache.flush()
        #expect(stage.entries.count == 1)
    }
}
