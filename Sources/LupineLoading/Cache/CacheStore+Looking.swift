// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// How a store answers: from memory and from what waits at once, from the folder when somebody may wait for it.
extension CacheStore {
    /// The plain party's response for an address, whatever it says about itself (U-12.2); may wait for the disk.
    func response(for address: String) -> CachedURLResponse? {
        let key = CacheKey(address: address, party: nil)
        if let entry = state.withLock({ $0.used(key) }) { return entry.response }
        if case .unknown = state.withLock({ $0.known(key) }) { learnFolder() }
        switch state.withLock({ $0.known(key) }) {
        case .entry(let entry): return entry.response
        case .nothing, .unknown: return nil
        case .onDisk(let item):
            guard let entry = read(item, key) else { return nil }
            // Who may see it was not asked: with concealed secrets in it nobody could ask later.
            if !entry.vary.holdsSecrets { promote(entry, key, item) }
            return entry.response
        }
    }

    /// Hands the entry that answers a reader's request to `reply`: at once, on the caller's thread, where no disk has to be
    /// asked, else on the storage queue.
    func lookUp(
        _ address: String, _ request: URLRequest, for reader: CacheReader,
        reply: @escaping @Sendable (CacheEntry?) -> Void
    ) {
        switch lookUpAtHand(address, request, for: reader) {
        case .known(let entry): reply(entry)
        case .onDisk: StorageQueue.run { reply(self.fetch(address, request, for: reader)) }
        }
    }

    /// What can be said of a request without the disk.
    enum AtHand: Sendable {
        case known(CacheEntry?)
        /// An entry in the folder answers it, or the folder has not been looked into.
        case onDisk
    }

    /// As far as `lookUp` comes at once.
    func lookUpAtHand(_ address: String, _ request: URLRequest, for reader: CacheReader) -> AtHand {
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

    /// The entry in the folder that answers a request; goes into memory, too. On the storage queue.
    private func fetch(_ address: String, _ request: URLRequest, for reader: CacheReader) -> CacheEntry? {
        learnFolder()
        for party in CacheAdmission.parties(of: reader) {
            let key = CacheKey(address: address, party: party)
            // Much can have happened while this waited for its turn.
            switch state.withLock({ state in state.used(key).map { .entry($0) } ?? state.known(key) }) {
            case .entry(let entry): if entry.answers(request, of: reader) { return entry }
            case .nothing, .unknown: break
            case .onDisk(let item): if let entry = fetch(item, key, request, for: reader) { return entry }
            }
        }
        return nil
    }

    private func fetch(
        _ item: CacheIndex.Item, _ key: CacheKey, _ request: URLRequest, for reader: CacheReader
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
            var gone = Gone()
            state.promote(entry, key: key, from: item.place, &gone)
            return gone
        }
    }

    /// Reads an entry, which counts as used. One that is not there is forgotten, and one that is damaged removed.
    private func read(_ item: CacheIndex.Item, _ key: CacheKey) -> CacheEntry? {
        var item = item
        while true {
            let found = folder.read(item.place, key: key)
            let (moved, isDue) = state.withLock { state -> (CacheIndex.Item?, Bool) in
                guard let now = state.index[key] else { return (nil, false) }
                if case .entry = found {
                    state.noteUse(key)
                    return (nil, state.beginTurn())
                }
                // Its writer may just have put it elsewhere.
                if now.place != item.place { return (now, false) }
                state.lose([key])
                return (nil, state.beginTurn())
            }
            if isDue { StorageQueue.run { self.takeTurn() } }
            if case .entry(let entry) = found { return entry }
            guard let moved else { return nil }
            item = moved
        }
    }
}
