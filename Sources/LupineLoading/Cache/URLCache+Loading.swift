// SPDX-License-Identifier: MIT

package import Foundation

/// What a task asks of the cache. Any thread; nothing here waits for a disk.
extension URLCache {
    /// Hands what is stored for a request, all its fields merged, to `reply`: nil when nothing is that the reader may have
    /// (U-12.2), or when it is the answer to a request with other fields (U-12.5, U-12.11). Whether it may be used is `CacheDecision`'s to say.
    ///
    /// `reply` is called once: before this returns, unless the entry is on the disk alone or the disk was not looked at
    /// yet; then on the storage queue, where it must not stay long.
    func lookUp(
        _ request: URLRequest, for reader: CacheReader, reply: @escaping @Sendable (CacheEntry?) -> Void
    ) {
        guard let address = CacheRule.key(of: request) else { return reply(nil) }
        store.lookUp(address, request, for: reader, reply: reply)
    }

    /// What `lookUp` would say before it returns: for those who need not be called back then.
    func lookUpAtHand(_ request: URLRequest, for reader: CacheReader) -> CacheStore.AtHand {
        guard let address = CacheRule.key(of: request) else { return .known(nil) }
        return store.lookUpAtHand(address, request, for: reader)
    }

    /// The most that `store(_:for:)` takes, content and head: a task need not keep more for it.
    package var largestEntry: Int {
        // Not by the properties, which a program's class may have overridden: loops ask this.
        let limit = CacheStore.Admission.loader.limit
        return max(limit(store.memoryCapacity), limit(store.diskCapacity))
    }

    /// The same for what may be kept in memory only.
    package var largestEntryInMemory: Int { CacheStore.Admission.loader.limit(store.memoryCapacity) }

    /// Stores what was loaded, if it is not more than a twentieth of a tier and its policy allows it (U-12.3). Whether the
    /// answer may be stored at all was asked before: `CacheRule.isStorable`.
    package func store(_ entry: CacheEntry, for request: URLRequest) {
        guard let address = CacheRule.key(of: request) else { return }
        if entry.namesItsReader { return store.remove(address, party: entry.provenance.party) }
        store.store(entry, address: address, request: request, admission: .loader)
    }

    /// Stores an entry as a 304 has refreshed it (U-12.13), or removes it if it may be stored no longer.
    package func update(_ entry: CacheEntry, for request: URLRequest) {
        guard let address = CacheRule.key(of: request) else { return }
        guard let response = entry.httpResponse, CacheRule.isStorable(response, for: request),
            !entry.namesItsReader
        else {
            return store.remove(address, party: entry.provenance.party)
        }
        store.store(entry, address: address, request: request, admission: .loader)
    }

    /// Removes what is stored for an address: a request that changes something has been answered (U-12.8).
    package func invalidate(_ url: URL) { store.remove(CacheRule.key(of: url)) }

    /// Calls `done` on the storage queue when everything that was stored and removed before is so on the disk.
    package func flush(_ done: @escaping @Sendable () -> Void) { store.flush(done) }
}
