// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineTransport

/// Stores responses for later requests, in memory and in a folder that outlives the process (RFC 9111, as a private cache).
///
/// Any thread may use it, and several processes may share a folder. The methods of this class look up by URL only: they check
/// neither whether a response is fresh nor which user it is for. Sessions check freshness, by the cache policy of the request.
/// Sessions also check that the user may receive the response, by the fields of the request and by the servers that the
/// session trusts.
///
/// A URL can have several responses. The methods that read and store use its default response, which has one of these origins:
///
/// - the program has stored it,
/// - it was received without TLS,
/// - it was received without a client certificate, from a server that has passed the default evaluation.
///
/// The methods that remove a response remove all responses of the URL. A full cache evicts the least recently used entries first.
/// If the disk fails, entries are lost, but no error is reported.
///
/// The class is open, so the compiler cannot infer that it is `Sendable`; its only stored property is a constant of a `Sendable`
/// type. Sessions use the store of the cache directly, so they do not call methods that a subclass overrides.
open class URLCache: NSObject, @unchecked Sendable {
    /// Where a response may be stored.
    public enum StoragePolicy: UInt, Sendable {
        /// In memory and on disk.
        case allowed = 0
        /// In memory only.
        case allowedInMemoryOnly = 1
        /// Not at all.
        case notAllowed = 2
    }

    /// The entries. Sessions use the store directly.
    let store: CacheStore

    private static let sharedCache = Lock<URLCache?>(nil)

    /// The cache that sessions use by default: 4 MiB in memory and 20 MiB in the user's cache folder, under the program's name.
    public class var shared: URLCache {
        get {
            sharedCache.withLock { shared in
                if let shared { return shared }
                let cache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 20 << 20)
                shared = cache
                return cache
            }
        }
        set {
            // The old cache is returned to be released outside of the lock.
            _ = sharedCache.withLock { shared in
                let old = shared
                shared = newValue
                return old
            }
        }
    }

    /// Creates a cache whose folder is given by a path.
    ///
    /// - Parameters:
    ///   - memoryCapacity: How many bytes may be kept in memory.
    ///   - diskCapacity: How many bytes may be kept on disk; with zero the folder is not touched.
    ///   - path: The folder. A relative path is resolved in the user's cache folder; nil is the folder of the shared cache.
    public init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
        store = Self.store(memoryCapacity, diskCapacity, Self.folder(path))
    }

    /// Returns the folder that a path denotes: a relative path is resolved in `base`; nil is the folder of the shared cache.
    static func folder(_ path: String?, in base: URL = UserFolder.cache()) -> URL {
        guard let path, path.hasPrefix("/") else {
            return base.appendingPathComponent(path ?? "http", isDirectory: true)
        }
        return URL(fileURLWithPath: path, isDirectory: true)
    }

    /// Creates a cache with the given folder.
    ///
    /// - Parameters:
    ///   - memoryCapacity: How many bytes may be kept in memory.
    ///   - diskCapacity: How many bytes may be kept on disk; with zero the folder is not touched.
    ///   - directory: The folder, which is created when the first entry is written, accessible to its owner only; nil is the
    ///     folder of the shared cache.
    public init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
        store = Self.store(memoryCapacity, diskCapacity, directory ?? Self.folder(nil))
    }

    /// Creates a cache that keeps the key of its keyed hash in the given file.
    package init(memoryCapacity: Int, diskCapacity: Int, directory: URL, keyFile: URL) {
        store = Self.store(memoryCapacity, diskCapacity, directory, keyFile: keyFile)
    }

    /// Creates a store with these capacities and this folder.
    private static func store(
        _ memoryCapacity: Int, _ diskCapacity: Int, _ directory: URL,
        keyFile: URL = UserFolder.data().appendingPathComponent("cache.key")
    ) -> CacheStore {
        CacheStore(
            memoryCapacity: memoryCapacity, diskCapacity: diskCapacity,
            folder: CacheFolder(directory, keyFile: keyFile))
    }

    // The store's jobs retain it until it has written the pending changes.
    deinit { store.finish() }

    // MARK: responses

    /// Returns the response stored for a request's URL, of any age; nil for a request that is not a GET. May read the disk.
    open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        CacheRule.key(of: request).flatMap { store.response(for: $0) }
    }

    /// Stores a response for a request's URL, if it is not larger than the cache, and replaces the URL's default response.
    ///
    /// The response's storage policy is respected, and a `no-store` response is never written to disk. Does nothing for a request
    /// that is not a GET.
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard let key = Self.defaultKey(of: request) else { return }
        let now = Date()
        let entry = CacheEntry(response: cachedResponse, for: request, requestTime: now, responseTime: now)
        store.store(entry, key, request: request, limits: .program)
    }

    /// Removes all responses stored for a request's URL, for all users. Does nothing for a request that is not a GET.
    open func removeCachedResponse(for request: URLRequest) {
        guard let address = CacheRule.key(of: request) else { return }
        store.remove(address)
    }

    /// Removes all responses.
    open func removeAllCachedResponses() { store.removeAll() }

    /// Removes all responses stored at this time or later. May read the disk.
    open func removeCachedResponses(since date: Date) { store.remove(since: date) }

    // MARK: sizes

    /// How many bytes may be kept in memory. Lowering it removes the excess at once.
    open var memoryCapacity: Int {
        get { store.memoryCapacity }
        set { store.memoryCapacity = newValue }
    }

    /// How many bytes may be kept on disk. Lowering it removes the excess soon after.
    open var diskCapacity: Int {
        get { store.diskCapacity }
        set { store.diskCapacity = newValue }
    }

    /// The number of bytes of content and heads in memory.
    open var currentMemoryUsage: Int { store.memoryUsage }

    /// The number of bytes that the entries take on disk. May read the disk.
    open var currentDiskUsage: Int { store.diskUsage }
}
