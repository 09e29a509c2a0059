// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Look-ups: answered at once from memory and from pending changes, or from the folder if the caller may wait for the disk.
extension CacheStore {
    /// Returns the response of the default partition for an address, without checking its freshness (U-12.2). May wait for the
    /// disk.
    func response(for address: String) -> CachedURLResponse? {
        let key = CacheKey(address: address, party: nil)
        if let entry = state.withLock({ $0.used(key) }) { return entry.response }
        if case .unknown = state.withLock({ $0.known(key) }) { learnFolder() }
        switch state.withLock({ $0.known(key) }) {
        case .entry(let entry): return entry.response
        case .nothing, .unknown: return nil
        case .onDisk(let item):
            guard let entry = read(item, key) else { return nil }
            // The request was not matched against the entry. With concealed secrets it could not be matched in memory later.
            if !entry.vary.holdsSecrets { promote(entry, key, item) }
            return entry.response
        }
    }

    /// Passes the entry that answers a reader's request to `reply`: at once, on the caller's thread, if no disk access is needed;
    /// otherwise on the storage queue.
    func lookUp(
        _ address: String, _ request: URLRequest, for reader: CacheRequester,
        reply: @escaping @Sendable (CacheEntry?) -> Void
    ) {
        switch lookUpInMemory(address, request, for: reader) {
        case .known(let entry): reply(entry)
        case .onDisk: StorageQueue.run { reply(self.fetch(address, request, for: reader)) }
        }
    }

    /// The result of a look-up without disk access.
    enum MemoryAnswer: Sendable {
        case known(CacheEntry?)
        /// An entry in the folder may answer the request, or the folder has not been read yet.
        case onDisk
    }

    /// Performs the part of `lookUp` that needs no disk access.
    func lookUpInMemory(_ address: String, _ request: URLRequest, for reader: CacheRequester) -> MemoryAnswer
    {
        for party in CacheAdmission.parties(of: reader) {
            let key = CacheKey(address: address, party: party)
            let (found, hash) = state.withLock { state in
                (state.used(key).map { Known.entry($0) } ?? state.known(key), state.hash)
            }
            switch found {
            case .entry(let entry): if entry.answers(request, of: reader) { return .known(entry) }
            case .nothing: break
            case .onDisk(let item):
                if item.terms.mayAnswer(request, of: reader, hash: hash) { return .onDisk }
            case .unknown: return .onDisk
            }
        }
        return .known(nil)
    }

    /// Returns the entry in the folder that answers a request, and keeps it in memory. Runs on the storage queue.
    private func fetch(_ address: String, _ request: URLRequest, for reader: CacheRequester) -> CacheEntry? {
        learnFolder()
        for party in CacheAdmission.parties(of: reader) {
            let key = CacheKey(address: address, party: party)
            // The state may have changed since the look-up was queued.
            switch state.withLock({ state in state.used(key).map { .entry($0) } ?? state.known(key) }) {
            case .entry(let entry): if entry.answers(request, of: reader) { return entry }
            case .nothing, .unknown: break
            case .onDisk(let item): if let entry = fetch(item, key, request, for: reader) { return entry }
            }
        }
        return nil
    }

    private func fetch(
        _ item: CacheIndex.Item, _ key: CacheKey, _ request: URLRequest, for reader: CacheRequester
    ) -> CacheEntry? {
        let hash = item.terms.vary.holdsSecrets ? folderHash : nil
        guard item.terms.mayAnswer(request, of: reader, hash: hash), let found = read(item, key) else {
            return nil
        }
        guard found.answers(request, of: reader, conceal: conceal) else { return nil }
        let entry = found.concealed(
            by: CacheEntry.conceal, for: request, identifying: reader.identifyingFields)
        promote(entry, key, item)
        return entry
    }

    private func promote(_ entry: CacheEntry, _ key: CacheKey, _ item: CacheIndex.Item) {
        _ = state.withLock { state in
            var gone = RemovedObjects()
            state.promote(entry, key: key, from: item.place, &gone)
            return gone
        }
    }

    /// Reads an entry, which counts as a use. An entry that is missing or damaged is removed from the index.
    private func read(_ item: CacheIndex.Item, _ key: CacheKey) -> CacheEntry? {
        var item = item
        while true {
            let found = folder.read(item.place, key: key)
            let (moved, next) = state.withLock { state -> (CacheIndex.Item?, Beginning?) in
                guard let now = state.index[key] else { return (nil, nil) }
                if case .entry = found {
                    state.noteUse(key)
                    return (nil, state.beginTurn())
                }
                // The folder's writer may just have moved it.
                if now.place != item.place { return (now, nil) }
                state.lose([key])
                return (nil, state.beginTurn())
            }
            begin(next)
            if case .entry(let entry) = found { return entry }
            guard let moved else { return nil }
            item = moved
        }
    }
}
