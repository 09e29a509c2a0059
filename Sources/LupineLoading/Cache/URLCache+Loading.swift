// SPDX-License-Identifier: MIT

package import Foundation

/// The cache's interface to tasks. Any thread may use it; nothing here waits for a disk.
extension URLCache {
    /// Passes the entry stored for a request, whose fields are all merged, to `reply`: nil if there is none that the reader may
    /// receive (U-12.2), or only one for a request with other fields (U-12.5, U-12.11). `CacheDecision` decides whether the entry
    /// may be used.
    ///
    /// `reply` is called once: before this returns, unless the entry is only on disk or the folder has not been read yet. Then it
    /// is called on the storage queue, and must return quickly.
    func lookUp(
        _ request: URLRequest, for reader: CacheRequester, reply: @escaping @Sendable (CacheEntry?) -> Void
    ) {
        guard let address = CacheRule.key(of: request) else { return reply(nil) }
        store.lookUp(address, request, for: reader, reply: reply)
    }

    /// Returns what `lookUp` can tell before it returns, for callers that then need no callback.
    func lookUpInMemory(_ request: URLRequest, for reader: CacheRequester) -> CacheStore.MemoryAnswer {
        guard let address = CacheRule.key(of: request) else { return .known(nil) }
        return store.lookUpInMemory(address, request, for: reader)
    }

    /// The largest size that `store(_:for:)` accepts, content and head; a task need not buffer more for it.
    package var largestEntry: Int {
        // Not through the properties, which a program's subclass may override: event loops call this.
        let limit = CacheStore.Admission.loader.limit
        return max(limit(store.memoryCapacity), limit(store.diskCapacity))
    }

    /// The largest size for a response that may be kept in memory only.
    package var largestEntryInMemory: Int { CacheStore.Admission.loader.limit(store.memoryCapacity) }

    /// Stores a loaded response, if it is not larger than a twentieth of a tier and its policy allows it (U-12.3). The caller has
    /// checked `CacheRule.isStorable`.
    package func store(_ entry: CacheEntry, for request: URLRequest) {
        guard let address = CacheRule.key(of: request) else { return }
        if entry.namesItsReader { return store.remove(address, party: entry.provenance.party) }
        store.store(entry, address: address, request: request, admission: .loader)
    }

    /// Stores an entry that a 304 has refreshed (U-12.13), or removes it if it may no longer be stored.
    package func update(_ entry: CacheEntry, for request: URLRequest) {
        guard let address = CacheRule.key(of: request) else { return }
        guard let response = entry.httpResponse, CacheRule.isStorable(response, for: request),
            !entry.namesItsReader
        else {
            return store.remove(address, party: entry.provenance.party)
        }
        store.store(entry, address: address, request: request, admission: .loader)
    }

    /// Removes the responses stored for an address, after an unsafe request has been answered (U-12.8).
    package func invalidate(_ url: URL) { store.remove(CacheRule.key(of: url)) }

    /// Calls `done` on the storage queue when all earlier changes are on disk.
    package func flush(_ done: @escaping @Sendable () -> Void) { store.flush(done) }
}
