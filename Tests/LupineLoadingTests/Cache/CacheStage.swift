// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineHTTP
import LupineTransport
import Testing

@testable import LupineLoading

/// A temporary folder, caches on it, and requests and responses for them.
final class CacheStage {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    var folder: URL { root.appendingPathComponent("cache", isDirectory: true) }

    deinit { try? FileManager.default.removeItem(at: root) }

    func cache(memory: Int = 1 << 20, disk: Int = 1 << 20) -> URLCache {
        URLCache(
            memoryCapacity: memory, diskCapacity: disk, directory: folder,
            keyFile: root.appendingPathComponent("key"))
    }

    /// Runs `body` with a cache on the folder, as another process would: when this returns, the changes are on the disk, and the
    /// folder has no writer.
    func process<Result: Sendable>(
        memory: Int = 1 << 20, disk: Int = 1 << 20, _ body: (URLCache) async throws -> Result
    ) async rethrows -> Result {
        let result = try await useCache(memory, disk, body)
        // Waits for jobs of the storage queue that still hold the cache.
        await withCheckedContinuation { idle in StorageQueue.run { idle.resume() } }
        return result
    }

    private func useCache<Result>(
        _ memory: Int, _ disk: Int, _ body: (URLCache) async throws -> Result
    ) async rethrows -> Result {
        let cache = cache(memory: memory, disk: disk)
        let result = try await body(cache)
        await cache.flush()
        return result
    }

    /// The names of the files in the folder.
    var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    /// The index of the folder, as another process would read it.
    var index: CacheIndex {
        let octets = (try? Data(contentsOf: folder.appendingPathComponent("index"))).map(Array.init) ?? []
        var lengths: [UInt64: Int] = [:]
        for name in files {
            guard case .segment(let number)? = CacheFolderName(name) else { continue }
            let data = try? Data(contentsOf: folder.appendingPathComponent(name))
            lengths[number] = data?.count ?? 0
        }
        return CacheIndex(CacheLog.contents(of: octets).changes, lengths: lengths)
    }

    /// The keys of the entries in the folder.
    var entries: [CacheKey] { index.keysFromLeastRecent }

    /// The files of the folder that hold entries or parts of them.
    var segments: [String] { files.filter { $0.hasPrefix("segment-") } }

    /// Returns the file that holds the plain entry of a request, and the range of the entry in it.
    func place(_ request: URLRequest) throws -> (file: URL, range: Range<Int>) {
        let key = CacheKey(address: try #require(CacheRule.key(of: request)), partition: nil)
        let place = try #require(index[key]?.location)
        return (
            folder.appendingPathComponent("segment-\(place.segment)"), place.offset..<place.end
        )
    }

    /// All octets that are in the folder.
    var octets: Data {
        files.reduce(into: Data()) { sum, name in
            sum += (try? Data(contentsOf: folder.appendingPathComponent(name))) ?? Data()
        }
    }

    static func request(_ url: String = "http://h/a", _ fields: [String: String] = [:]) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.allHTTPHeaderFields = fields
        return request
    }

    static func head(_ lines: [(String, String)], status: Int = 200) throws -> ResponseHead {
        var fields = Fields()
        for (name, value) in lines { try fields.append(FieldName(name), value) }
        return ResponseHead(status: Status(status), fields: fields)
    }

    /// Returns a response as a load receives it.
    static func loaded(
        _ content: String, _ lines: [(String, String)] = [], url: String = "http://h/a",
        policy: URLCache.StoragePolicy = .allowed
    ) throws -> CachedURLResponse {
        let url = try #require(URL(string: url))
        let response = HTTPURLResponse(url: url, head: try head(lines), isDecoded: false)
        return CachedURLResponse(
            response: response, data: Data(content.utf8), userInfo: nil, storagePolicy: policy)
    }

    static func entry(
        _ response: CachedURLResponse, for request: URLRequest, at time: Date = Date()
    ) -> CacheEntry {
        CacheEntry(response: response, for: request, requestTime: time, responseTime: time)
    }
}

extension URLCache {
    func flush() async {
        let order = Lock(false)
        await withCheckedContinuation { continuation in
            flush {
                order.withLock { $0 = true }
                continuation.resume()
            }
        }
        order.showOrder()
    }

    func lookUp(_ request: URLRequest, for reader: CacheRequester = .standard) async -> CacheEntry? {
        // The answer passes through a lock, which ThreadSanitizer sees, not through the continuation, which it does not.
        let answer = Lock(CacheEntry?.none)
        await withCheckedContinuation { continuation in
            lookUp(request, for: reader) { entry in
                answer.withLock { $0 = entry }
                continuation.resume()
            }
        }
        return answer.withLock { $0 }
    }

    /// The result of a look-up at the time when it returns.
    enum Answer: Hashable {
        case entry(String)
        case nothing
        case later
    }

    func lookUpAtOnce(_ request: URLRequest) -> Answer {
        let answer = Lock(Answer.later)
        // Holds the storage queue, so that nothing can arrive from the disk before this returns.
        let gate = DispatchSemaphore(value: 0)
        StorageQueue.run { gate.wait() }
        defer { gate.signal() }
        lookUp(request, for: .standard) { entry in
            answer.withLock { $0 = entry.map { .entry($0.content) } ?? .nothing }
        }
        return answer.withLock { $0 }
    }

    func content(_ request: URLRequest) -> String? {
        cachedResponse(for: request).map { String(decoding: $0.data, as: UTF8.self) }
    }
}

extension CacheRequester {
    /// A requester without delegate, proxy or client identity.
    static let standard = CacheRequester(policy: .standard(roots: "system"))
}

extension CacheEntry {
    var content: String { String(decoding: response.data, as: UTF8.self) }
}

extension CacheTerms {
    /// The terms in a folder whose key the test does not need to know.
    convenience init?(_ entry: CacheEntry) { self.init(entry, hash: KeyedHash(key: [0])) }
}

extension CacheEntryFormat {
    /// The octets in a folder whose key the test does not need to know.
    static func octets(of entry: CacheEntry, address: String) -> [UInt8]? {
        octets(of: entry, address: address, hash: KeyedHash(key: [0]))
    }
}
