// SPDX-License-Identifier: MIT

package import Foundation

/// The cache's interface for tasks. Any thread may use it. Nothing here waits for the disk.
extension URLCache {
    /// Looks up the entry stored for a request, and passes it to `reply`. The entry was stored for the same fields (U-12.5,
    /// U-12.11), and the requester may receive it (U-12.2); nil if there is none. `CacheDecision` decides whether the entry may
    /// be used. All fields of the request must be merged.
    ///
    /// Calls `reply` once: before this returns, or on the storage queue if the entry is only on disk or the folder was not read
    /// yet. `reply` must return quickly.
    func lookUp(
        _ request: URLRequest, for requester: CacheRequester, reply: @escaping @Sendable (CacheEntry?) -> Void
    ) {
        guard let address = CacheRule.key(of: request) else { return reply(nil) }
        store.lookUp(address, request, for: requester, reply: reply)
    }

    /// Returns the result of `lookUp` if no disk access is needed, so that the caller needs no callback.
    func lookUpInMemory(_ request: URLRequest, for requester: CacheRequester) -> CacheStore.MemoryAnswer {
        guard let address = CacheRule.key(of: request) else { return .known(nil) }
        return store.lookUpInMemory(address, request, for: requester)
    }

    /// The largest size of an entry, content and head, that `store(_:for:)` accepts. A task need not buffer more.
    package var largestEntry: Int {
        // Reads the store, because event loops call this and a program's subclass may override the cache's properties.
        let limit = CacheStore.Admission.loader.limit
        return max(limit(store.memoryCapacity), limit(store.diskCapacity))
    }

    /// The largest size of an entry whose policy allows memory only.
    package var largestEntryInMemory: Int { CacheStore.Admission.loader.limit(store.memoryCapacity) }

    /// Stores a loaded response, if its storage policy allows it and it is not larger than a twentieth of the capacity (U-12.3).
    /// The caller must have checked `CacheRule.isStorable`.
    package func store(_ entry: CacheEntry, for request: URLRequest) {
        guard let address = CacheRule.key(of: request) else { return }
        // The response is not stored, but it has superseded the stored one.
        if entry.setsCookieForUnknownUser { return store.remove(address, party: entry.provenance.party) }
        store.store(entry, address: address, request: request, admission: .loader)
    }

    /// Stores an entry that a 304 has refreshed (U-12.13), or removes it if it may no longer be stored.
    package func update(_ entry: CacheEntry, for request: URLRequest) {
        guard let address = CacheRule.key(of: request) else { return }
        guard let response = entry.httpResponse, CacheRule.isStorable(response, for: request),
            !entry.setsCookieForUnknownUser
        else {
            return store.remove(address, party: entry.provenance.party)
        }
        store.store(entry, address: address, request: request, admission: .loader)
    }

    /// Removes the responses stored for a URL, because an unsafe request has succeeded (U-12.8).
    package func invalidate(_ url: URL) { store.remove(CacheRule.key(of: url)) }

    /// Calls `completion` on the storage queue when all earlier changes are on disk.
    package func flush(_ completion: @escaping @Sendable () -> Void) { store.flush(completion) }
}
