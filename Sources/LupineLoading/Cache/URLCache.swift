// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineTransport

/// Responses that were loaded, kept for requests to come: in memory, and in a folder that outlives the process (RFC 9111, as
/// a private cache).
///
/// Any thread may use it, and several processes may use one folder. The methods here look under an address and nothing else:
/// they neither ask whether a response is fresh nor for whom it is. Sessions do, by their requests' cache policies and by
/// whom they trust. An address can have several responses: the methods see and replace the plain one, which came without a
/// client certificate from a server that passed the default evaluation, or that the program stored; those that remove
/// remove all. What has not been used for the longest time goes first when the cache is full. A disk that fails costs what would have been stored
/// there, and nobody an error.
///
/// It can be subclassed, so the compiler cannot see that it is `Sendable`; all it stores is one constant of a type that is.
/// Sessions use the store of a subclass and not the methods that it overrides.
open class URLCache: NSObject, @unchecked Sendable {
    /// Where a response may be stored.
    public enum StoragePolicy: UInt, Sendable {
        /// In memory and on the disk.
        case allowed = 0
        /// In memory only.
        case allowedInMemoryOnly = 1
        /// Nowhere.
        case notAllowed = 2
    }

    let store: CacheStore

    private static let sharedCache = Lock<URLCache?>(nil)

    /// The cache of the process, unless a session has its own: 4 MiB in memory and 20 MiB in the user's folder for caches,
    /// under the program's name.
    public class var shared: URLCache {
        get {
            sharedCache.withLock { shared in
                if let shared { return shared }
                let made = URLCache(memoryCapacity: 4 << 20, diskCapacity: 20 << 20)
                shared = made
                return made
            }
        }
        set {
            _ = sharedCache.withLock { shared in
                let old = shared
                shared = newValue
                return old
            }
        }
    }

    /// A cache with a folder of this path.
    ///
    /// - Parameters:
    ///   - memoryCapacity: How many bytes may be kept in memory.
    ///   - diskCapacity: How many bytes may be kept on the disk; without any the folder is not touched.
    ///   - path: The folder; a path that is not absolute is one in the user's folder for caches, nil is the folder of the
    ///     shared cache.
    public init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
        store = Self.store(memoryCapacity, diskCapacity, Self.folder(path))
    }

    /// The folder of a path.
    static func folder(_ path: String?, in base: URL = UserFolder.cache()) -> URL {
        guard let path, path.hasPrefix("/") else {
            return base.appendingPathComponent(path ?? "http", isDirectory: true)
        }
        return URL(fileURLWithPath: path, isDirectory: true)
    }

    /// A cache with this folder.
    ///
    /// - Parameters:
    ///   - memoryCapacity: How many bytes may be kept in memory.
    ///   - diskCapacity: How many bytes may be kept on the disk; without any the folder is not touched.
    ///   - directory: The folder, which is made when it is needed, for its owner only; nil is that of the shared cache.
    public init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
        store = Self.store(memoryCapacity, diskCapacity, directory ?? Self.folder(nil))
    }

    /// A cache that keeps the key by which it conceals secrets in this file.
    package init(memoryCapacity: Int, diskCapacity: Int, directory: URL, keyFile: URL) {
        store = Self.store(memoryCapacity, diskCapacity, directory, keyFile: keyFile)
    }

    private static func store(
        _ memoryCapacity: Int, _ diskCapacity: Int, _ directory: URL,
        keyFile: URL = UserFolder.data().appendingPathComponent("cache.key")
    ) -> CacheStore {
        CacheStore(
            memoryCapacity: memoryCapacity, diskCapacity: diskCapacity,
            folder: CacheFolder(directory, keyFile: keyFile))
    }

    // MARK: what is stored

    /// What is stored for a request's address, however old it is; nil for a request that is no GET. May read the disk.
    open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        CacheRule.key(of: request).flatMap { store.response(for: $0) }
    }

    /// Stores a response for a request's address, in place of the plain one that is there, if it is not larger than the cache.
    ///
    /// What the response's policy does not allow is not stored, and no `no-store` reaches the disk. Does nothing for a
    /// request that is no GET.
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard let address = CacheRule.key(of: request) else { return }
        let now = Date()
        let entry = CacheEntry(response: cachedResponse, for: request, requestTime: now, responseTime: now)
        store.store(entry, address: address, request: request, admission: .program)
    }

    /// Removes what is stored for a request's address, whosoever it is.
    open func removeCachedResponse(for request: URLRequest) {
        guard let address = CacheRule.key(of: request) else { return }
        store.remove(address)
    }

    /// Removes everything.
    open func removeAllCachedResponses() { store.removeAll() }

    /// Removes what was stored at that time or later. May read the disk.
    open func removeCachedResponses(since date: Date) { store.remove(since: date) }

    // MARK: sizes

    /// How many bytes may be kept in memory. When it becomes less, what is over is removed at once.
    open var memoryCapacity: Int {
        get { store.memoryCapacity }
        set { store.memoryCapacity = newValue }
    }

    /// How many bytes may be kept on the disk. When it becomes less, what is over is removed soon.
    open var diskCapacity: Int {
        get { store.diskCapacity }
        set { store.diskCapacity = newValue }
    }

    /// How many bytes are kept in memory: content and heads.
    open var currentMemoryUsage: Int { store.memoryUsage }

    /// How many bytes the files of the cache have. May read the disk.
    open var currentDiskUsage: Int { store.diskUsage }
}
