// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineHTTP
import LupineTransport
import Testing

@testable import LupineLoading

/// A folder of a test's own, the caches on it, and what goes into them.
final class CacheStage {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    var folder: URL { root.appendingPathComponent("cache", isDirectory: true) }

    deinit { try? FileManager.default.removeItem(at: root) }

    func cache(memory: Int = 1 << 20, disk: Int = 1 << 20) -> URLCache {
        URLCache(
            memoryCapacity: memory, diskCapacity: disk, directory: folder,
            keyFile: root.appendingPathComponent("key"))
    }

    /// The names of the files in the folder.
    var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    func file(_ request: URLRequest) throws -> URL {
        let key = try #require(CacheRule.key(of: request))
        return folder.appendingPathComponent(CacheEntryFile.digest(of: key).description + ".entry")
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

    /// A response as it was loaded.
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

    func lookUp(_ request: URLRequest, for reader: CacheReader = .standard) async -> CacheEntry? {
        // Through a lock, which ThreadSanitizer sees, and not through the continuation, which it does not.
        let answer = Lock(CacheEntry?.none)
        await withCheckedContinuation { continuation in
            lookUp(request, for: reader) { entry in
                answer.withLock { $0 = entry }
                continuation.resume()
            }
        }
        return answer.withLock { $0 }
    }

    /// What a look-up says before it returns.
    enum Answer: Hashable {
        case entry(String)
        case nothing
        case later
    }

    func lookUpAtOnce(_ request: URLRequest) -> Answer {
        let answer = Lock(Answer.later)
        // What is to come from the disk cannot come before this has returned.
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

extension CacheReader {
    /// Without delegate, proxy and identity.
    static let standard = CacheReader(policy: .standard(roots: "system"))
}

extension CacheEntry {
    var content: String { String(decoding: response.data, as: UTF8.self) }
}
