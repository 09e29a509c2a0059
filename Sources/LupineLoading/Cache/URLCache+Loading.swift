// SPDX-License-Identifier: MIT

package import Foundation

/// The cache's interface for tasks. Any thread may use it. Nothing here waits for the disk.
extension URLCache {
    /// Returns the key of a request in the default partition; nil for a request whose responses are never stored.
    static func defaultKey(of request: URLRequest) -> CacheKey? {
        CacheRule.key(of: request).map { CacheKey(address: $0, partition: nil) }
    }

    /// Looks up the entry that is stored for a request, and passes it to `reply`; nil if there is none. The request of the entry
    /// had the same values in the fields that matter (U-12.5, U-12.11), and the requester may receive the entry (U-12.2).
    /// `CacheDecision` decides whether the entry may be used. `request` must have all its fields merged.
    ///
    /// Calls `reply` once: before this function returns, or on the storage queue if the entry is only on disk or the folder was
    /// not read yet. `reply` must return quickly.
    func lookUp(
        _ request: URLRequest, for requester: CacheRequester, reply: @escaping @Sendable (CacheEntry?) -> Void
    ) {
        guard let key = Self.defaultKey(of: request) else { return reply(nil) }
        store.lookUp(key, request, for: requester, reply: reply)
    }

    /// Does the part of `lookUp` that needs no disk access, and returns its result, so that the caller needs no callback. `key`
    /// is `defaultKey` of the request.
    func lookUpInMemory(
        _ key: CacheKey, _ request: URLRequest, for requester: CacheRequester
    ) -> CacheStore.MemoryLookUpResult {
        store.lookUpInMemory(key, request, for: requester)
    }

    /// The largest size in bytes of an entry, content and head, that `store(_:for:)` accepts. A task need not buffer more.
    package var largestEntry: Int {
        // Reads the capacities of the store: a program's subclass may override the properties of the cache, and event loops,
        // which call this, must not run a program's code.
        let limit = CacheStore.SizeLimits.loader.maxEntrySize
        return max(limit(store.memoryCapacity), limit(store.diskCapacity))
    }

    /// The largest size in bytes of an entry whose policy allows memory only.
    package var largestEntryInMemory: Int { CacheStore.SizeLimits.loader.maxEntrySize(store.memoryCapacity) }

    /// Stores a loaded response, if its storage policy allows it and it is not larger than a twentieth of the capacity (U-12.3).
    /// The caller must have checked `CacheRule.isStorable`. `key` is `defaultKey` of the request, if the caller has it.
    package func store(_ entry: CacheEntry, for request: URLRequest, key: CacheKey? = nil) {
        guard let key = key ?? Self.defaultKey(of: request) else { return }
        // The new response must not be stored. The stored response is obsolete now, and is removed.
        if entry.setsCookieForUnknownUser { return store.remove(key.key(in: entry.provenance.partition)) }
        store.store(entry, key, request: request, limits: .loader)
    }

    /// Stores an entry that a 304 has refreshed (U-12.13), or removes it if it may no longer be stored.
    package func update(_ entry: CacheEntry, for request: URLRequest) {
        guard let key = Self.defaultKey(of: request) else { return }
        guard let response = entry.httpResponse, CacheRule.isStorable(response, for: request),
            !entry.setsCookieForUnknownUser
        else { return store.remove(key.key(in: entry.provenance.partition)) }
        store.store(entry, key, request: request, limits: .loader)
    }

    /// Removes the responses stored for a URL, because an unsafe request has succeeded (U-12.8).
    package func invalidate(_ url: URL) { store.remove(CacheRule.key(of: url)) }

    /// Calls `completion` on the storage queue when all earlier changes are on disk.
    package func flush(_ completion: @escaping @Sendable () -> Void) { store.flush(completion) }
}
