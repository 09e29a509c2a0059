// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Look-ups, which are answered from memory and pending changes, or from the folder.
extension CacheStore {
    /// Returns the response for an address in the default partition, without checking its freshness (U-12.2). May wait for the
    /// disk.
    func response(for address: String) -> CachedURLResponse? {
        let key = CacheKey(address: address, party: nil)
        if let entry = state.withLock({ $0.useInMemory(key) }) { return entry.response }
        if case .unknown = state.withLock({ $0.lookUp(key) }) { readFolderIndex() }
        switch state.withLock({ $0.lookUp(key) }) {
        case .entry(let entry): return entry.response
        case .nothing, .unknown: return nil
        case .onDisk(let item):
            guard let entry = read(item, key) else { return nil }
            // An entry with secrets stays on disk: its hashes are those of the folder, which entries in memory do not have.
            if !entry.vary.holdsSecrets { promote(entry, key, item) }
            return entry.response
        }
    }

    /// Looks up the entry that answers a request, and passes it to `reply`; nil if there is none. Calls `reply` before this
    /// returns if no disk access is needed, otherwise on the storage queue.
    func lookUp(
        _ address: String, _ request: URLRequest, for requester: CacheRequester,
        reply: @escaping @Sendable (CacheEntry?) -> Void
    ) {
        switch lookUpInMemory(address, request, for: requester) {
        case .known(let entry): reply(entry)
        case .onDisk: StorageQueue.run { reply(self.fetch(address, request, for: requester)) }
        }
    }

    /// The result of a look-up without disk access.
    enum MemoryAnswer: Sendable {
        /// The final result of the look-up; nil if no entry answers the request.
        case known(CacheEntry?)
        /// An entry in the folder may answer the request, or the folder has not been read yet.
        case onDisk
    }

    /// Performs the part of `lookUp` that needs no disk access.
    func lookUpInMemory(
        _ address: String, _ request: URLRequest, for requester: CacheRequester
    ) -> MemoryAnswer {
        for party in CacheAdmission.parties(of: requester) {
            let key = CacheKey(address: address, party: party)
            let (result, hash) = state.withLock { state in
                (state.useInMemory(key).map { LookUpResult.entry($0) } ?? state.lookUp(key), state.hash)
            }
            switch result {
            case .entry(let entry): if entry.answers(request, of: requester) { return .known(entry) }
            case .nothing: break
            case .onDisk(let item):
                if item.terms.mayAnswer(request, of: requester, hash: hash) { return .onDisk }
            case .unknown: return .onDisk
            }
        }
        return .known(nil)
    }

    /// Returns the entry in the folder that answers a request, and keeps it in memory. Runs on the storage queue.
    private func fetch(
        _ address: String, _ request: URLRequest, for requester: CacheRequester
    ) -> CacheEntry? {
        readFolderIndex()
        for party in CacheAdmission.parties(of: requester) {
            let key = CacheKey(address: address, party: party)
            // Looks up again, because the state may have changed since the look-up was queued.
            let result = state.withLock { state in
                state.useInMemory(key).map { LookUpResult.entry($0) } ?? state.lookUp(key)
            }
            switch result {
            case .entry(let entry): if entry.answers(request, of: requester) { return entry }
            case .nothing, .unknown: break
            case .onDisk(let item): if let entry = fetch(item, key, request, for: requester) { return entry }
            }
        }
        return nil
    }

    /// Returns an entry of the folder if it answers the request, and keeps it in memory.
    private func fetch(
        _ item: CacheIndex.Item, _ key: CacheKey, _ request: URLRequest, for requester: CacheRequester
    ) -> CacheEntry? {
        let hash = item.terms.vary.holdsSecrets ? folderHash : nil
        guard item.terms.mayAnswer(request, of: requester, hash: hash), let stored = read(item, key) else {
            return nil
        }
        guard stored.answers(request, of: requester, conceal: conceal) else { return nil }
        let entry = stored.concealed(
            by: CacheEntry.conceal, for: request, identifying: requester.identifyingFields)
        promote(entry, key, item)
        return entry
    }

    /// Keeps an entry that was read from the folder in memory.
    private func promote(_ entry: CacheEntry, _ key: CacheKey, _ item: CacheIndex.Item) {
        // The evicted entries are returned to be released outside of the lock.
        _ = state.withLock { state in
            var removed = RemovedObjects()
            state.promote(entry, key: key, from: item.location, &removed)
            return removed
        }
    }

    /// Reads an entry from its segment, which counts as a use. Reads again if the storage queue has moved the entry meanwhile.
    /// Removes an entry that is missing or damaged from the index.
    private func read(_ item: CacheIndex.Item, _ key: CacheKey) -> CacheEntry? {
        var item = item
        while true {
            let result = folder.read(item.location, key: key)
            let (movedItem, batchStart) = state.withLock { state -> (CacheIndex.Item?, BatchStart?) in
                // An entry that was removed during the read is still returned, as if it had been read earlier.
                guard let current = state.index[key] else { return (nil, nil) }
                if case .entry = result {
                    state.recordUse(key)
                    return (nil, state.claimBatch())
                }
                if current.location != item.location { return (current, nil) }
                state.removeFromIndex([key])
                return (nil, state.claimBatch())
            }
            schedule(batchStart)
            if case .entry(let entry) = result { return entry }
            guard let movedItem else { return nil }
            item = movedItem
        }
    }
}
