// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Looks up entries: first in memory and in the changes that are not written yet, then in the folder.
extension CacheStore {
    /// Returns the response for an address in the default partition, which has the entries that need no client certificate, from
    /// servers that have passed the default evaluation (U-12.2). Does not check the response's freshness. May wait for the disk.
    func response(for address: String) -> CachedURLResponse? {
        let key = CacheKey(address: address, partition: nil)
        if let entry = state.withLock({ $0.useInMemory(key) }) { return entry.response }
        // `unknown` means that the folder was not read yet.
        if case .unknown = state.withLock({ $0.lookUp(key) }) { readFolderIndex() }
        switch state.withLock({ $0.lookUp(key) }) {
        case .entry(let entry): return entry.response
        case .nothing, .unknown: return nil
        case .onDisk(let record):
            guard let entry = read(record, key) else { return nil }
            // A concealed entry stays on disk, because there is no request that reveals it.
            if !entry.vary.isConcealed { insertIntoMemory(entry, key, record) }
            return entry.response
        }
    }

    /// Looks up the entry that answers a request, and passes it to `reply`; nil if there is none. Calls `reply` before this
    /// returns if no disk access is needed, otherwise on the storage queue. `defaultKey` is the key of the request's address in
    /// the default partition.
    func lookUp(
        _ defaultKey: CacheKey, _ request: URLRequest, for requester: CacheRequester,
        reply: @escaping @Sendable (CacheEntry?) -> Void
    ) {
        switch lookUpInMemory(defaultKey, request, for: requester) {
        case .complete(let entry): reply(entry)
        case .onDisk: StorageQueue.run { reply(self.lookUpOnDisk(defaultKey, request, for: requester)) }
        }
    }

    /// The result of a look-up without disk access.
    enum MemoryLookUpResult: Sendable {
        /// The final result of the look-up; nil if no entry answers the request.
        case complete(CacheEntry?)
        /// An entry in the folder may answer the request, or the folder has not been read yet.
        case onDisk
    }

    /// Performs the part of `lookUp` that needs no disk access. Any thread.
    func lookUpInMemory(
        _ defaultKey: CacheKey, _ request: URLRequest, for requester: CacheRequester
    ) -> MemoryLookUpResult {
        for partition in CacheAdmission.partitions(of: requester) {
            let key = defaultKey.key(in: partition)
            let (result, folderHash) = state.withLock { state in
                (state.useInMemory(key).map { LookUpResult.entry($0) } ?? state.lookUp(key), state.hash)
            }
            switch result {
            case .entry(let entry): if entry.answers(request, of: requester) { return .complete(entry) }
            case .nothing: break
            case .onDisk(let record):
                if record.terms.mayAnswer(request, of: requester, hash: folderHash) { return .onDisk }
            case .unknown: return .onDisk
            }
        }
        return .complete(nil)
    }

    /// Performs the part of `lookUp` that may need the disk: returns the entry that answers a request, and puts it into memory.
    /// Runs on the storage queue.
    private func lookUpOnDisk(
        _ defaultKey: CacheKey, _ request: URLRequest, for requester: CacheRequester
    ) -> CacheEntry? {
        readFolderIndex()
        for partition in CacheAdmission.partitions(of: requester) {
            let key = defaultKey.key(in: partition)
            // Looks up again, because the state may have changed since the look-up was queued.
            let result = state.withLock { state in
                state.useInMemory(key).map { LookUpResult.entry($0) } ?? state.lookUp(key)
            }
            switch result {
            case .entry(let entry): if entry.answers(request, of: requester) { return entry }
            // `unknown` does not occur after `readFolderIndex`.
            case .nothing, .unknown: break
            case .onDisk(let record):
                if let entry = readIfAnswering(record, key, request, for: requester) { return entry }
            }
        }
        return nil
    }

    /// Reads an entry of the folder if it answers the request, puts it into memory and returns it. Returns nil if the
    /// entry does not answer the request, or cannot be read.
    private func readIfAnswering(
        _ record: CacheIndex.Record, _ key: CacheKey, _ request: URLRequest, for requester: CacheRequester
    ) -> CacheEntry? {
        // Reads the key of the hash only if concealed values must be compared.
        let hash = record.terms.vary.isConcealed ? folderHash : nil
        guard record.terms.mayAnswer(request, of: requester, hash: hash),
            let storedEntry = read(record, key, request.url),
            storedEntry.answers(request, of: requester, hash: hash)
        else { return nil }
        let entry = storedEntry.revealed(by: request, of: requester)
        insertIntoMemory(entry, key, record)
        return entry
    }

    /// Puts an entry that was read from the folder into memory.
    private func insertIntoMemory(_ entry: CacheEntry, _ key: CacheKey, _ record: CacheIndex.Record) {
        // The evicted entries are returned to be released outside of the lock.
        _ = state.withLock { state in
            var removed = RemovedObjects()
            state.insertReadEntry(entry, for: key, from: record.location, &removed)
            return removed
        }
    }

    /// Reads an entry from its segment, which counts as a use. Reads it again if the storage queue has moved it meanwhile.
    /// Returns nil, and removes the entry from the index, if it is missing or damaged. `url` is the URL of the request.
    private func read(_ record: CacheIndex.Record, _ key: CacheKey, _ url: URL? = nil) -> CacheEntry? {
        var record = record
        while true {
            let result = folder.read(record.location, key: key, url: url)
            let (movedRecord, batchStart) = state.withLock { state -> (CacheIndex.Record?, BatchStart?) in
                // `current` is the record after the read. An entry that was removed during the read is still returned, as if it
                // had been read earlier.
                guard let current = state.index[key] else { return (nil, nil) }
                if case .entry = result {
                    state.recordUse(key)
                    return (nil, state.claimBatch())
                }
                // The entry was moved: the loop reads it at its new location.
                if current.location != record.location { return (current, nil) }
                state.removeFromIndex([key])
                return (nil, state.claimBatch())
            }
            // Nil if no batch has to start.
            schedule(batchStart)
            if case .entry(let entry) = result { return entry }
            guard let movedRecord else { return nil }
            record = movedRecord
        }
    }
}
