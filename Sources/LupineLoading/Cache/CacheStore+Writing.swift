// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Writes a store's pending changes to its folder. Runs on the storage queue, except where a comment says otherwise.
///
/// A batch is a group of pending changes that are written together. One process at a time is the folder's writer; in other
/// processes the folder is read only.
extension CacheStore {
    /// The number of bytes after which a batch ends: 1 MiB. Other jobs of the storage queue run between two batches.
    private static let batchSize = 1 << 20

    /// Reads the folder's index, unless it was read before. Any thread that may wait for the disk.
    func readFolderIndex() {
        let (hasReadFolder, capacity) = state.withLock { ($0.hasReadFolder, $0.diskCapacity) }
        if hasReadFolder { return }
        // Several threads may read the same index at a time; the state uses the first one.
        let index = folder.open(capacity: capacity, createsFolder: false)
        let isWriter = folder.access == .writer
        let batchStart = state.withLock { state in
            // Nil if another thread has set the index meanwhile.
            if let index { state.setInitialIndex(index, isWriter: isWriter) }
            state.evictFromFolder()
            return state.claimBatch()
        }
        folder.releaseInitialIndex()
        schedule(batchStart)
    }

    /// The hash that conceals secrets in the folder. The first access reads its key from a file. Any thread that may wait for the
    /// disk.
    var folderHash: KeyedHash {
        if let hash = state.withLock({ $0.hash }) { return hash }
        let hash = folder.hash()
        state.withLock { $0.hash = hash }
        return hash
    }

    /// Returns the keyed hash of a secret for the folder.
    func conceal(_ secret: String) -> String { folderHash.hexDigits(of: secret) }

    /// Schedules a batch that starts at this time; does nothing for nil. Any thread.
    func schedule(_ start: BatchStart?) {
        switch start {
        case .now: StorageQueue.run { self.runBatch() }
        case .at(let moment):
            // The alarm does not retain the store: `finish()` writes pending changes when the cache is released.
            // The alarm is never cancelled: `alarmFired()` returns false if the batch was queued before.
            _ = LoadAlarms.shared.set(at: moment) { [weak self] in
                guard let self, state.withLock({ $0.alarmFired() }) else { return }
                schedule(.now)
            }
        case nil: break
        }
    }

    /// Writes pending changes without delay, because the cache is being released. Any thread.
    func finish() {
        schedule(
            state.withLock { state in
                state.isReleased = true
                return state.claimBatch()
            })
    }

    /// Writes a batch, and schedules another one if changes remain.
    func runBatch() {
        writeBatch(onlyLogs: false)
        schedule(state.withLock { $0.endBatch() })
    }

    /// Writes all changes up to this number, and logs the uses and evictions.
    func writeChanges(upTo number: UInt64) {
        func mustWriteBatch() -> Bool {
            state.withLock { state in
                // With an empty queue, the folder may still have to be emptied.
                guard let (_, nextNumber) = state.queue.first else { return state.mustClear }
                return nextNumber <= number
            }
        }
        while mustWriteBatch() { writeBatch(onlyLogs: false) }
        // The next process gets the order of use from the log.
        writeBatch(onlyLogs: true)
    }

    /// Writes the next changes, up to the size of a batch.
    ///
    /// - Parameter onlyLogs: Whether to log only uses and evictions, and to leave the changes pending.
    private func writeBatch(onlyLogs: Bool) {
        readFolderIndex()
        becomeWriter()
        let (batch, capacity, clearCount) = state.withLock { state in
            (state.removeNextBatch(upTo: onlyLogs ? 0 : Self.batchSize), state.diskCapacity, state.clearCount)
        }
        if batch.isEmpty { return }
        if batch.mustClear {
            folder.clear(capacity: capacity)
            let access = folder.access
            state.withLock { state in
                // If `clearFolder` was called again meanwhile, the next batch empties the folder.
                if state.clearCount != clearCount { return }
                state.mustClear = false
                // A reader cannot empty the folder. It keeps the removals until it becomes the writer.
                // With `none` there is usually no folder, and so nothing to remove.
                if access != .reader { state.removalsAsReader = access == .writer ? nil : PendingRemovals() }
            }
        }
        writeAndRecord(batch, capacity, clearCount)
        state.withLock { $0.evictFromFolder() }
        compactFolder(capacity, clearCount)
    }

    /// Becomes the folder's writer, if there is anything to write and the folder has no writer.
    private func becomeWriter() {
        guard folder.access == .reader, !state.withLock({ $0.hasNothingToWrite }),
            let index = folder.becomeWriter(capacity: diskCapacity)
        else { return }
        state.withLock { $0.replaceIndex(with: index, isWriter: true) }
    }

    // MARK: writing a batch

    /// Appends the entries of a batch to the folder, logs the changes and records them in the state. If the state's `clearCount`
    /// differs from the given one, the changes are neither logged nor recorded, because the folder will be emptied.
    private func writeAndRecord(_ batch: Batch, _ capacity: Int, _ clearCount: Int) {
        if folder.lacksIndex { repairIndex() }
        let records = append(batch, capacity)
        let changes = state.withLock { state in
            state.clearCount == clearCount ? state.logChanges(of: batch, records) : []
        }
        let isLogged = folder.log(changes)
        // The written changes are returned to be released outside of the lock.
        _ = state.withLock { state in
            if state.clearCount != clearCount { return [] }
            // If the log was not written, the index must not refer to the entries either.
            return state.recordWritten(
                batch, isLogged ? records : .init(repeating: nil, count: records.count))
        }
        if !isLogged, folder.access == .writer { repairIndex() }
    }

    /// Appends the entries of a batch to the segments, which are files of the folder. Returns the index record of each change;
    /// nil for a removal, and for an entry that was not written.
    private func append(_ batch: Batch, _ capacity: Int) -> [CacheIndex.Record?] {
        var records = [CacheIndex.Record?](repeating: nil, count: batch.changes.count)
        if batch.writeCount == 0 { return records }
        // The records of the encoded entries, before their locations are known.
        var drafts: [(changeIndex: Int, terms: CacheTerms, storedTime: Date)] = []
        var lengths: [Int] = []
        var writer = OctetWriter(capacity: batch.size + batch.writeCount * CacheEntryFormat.typicalOverhead)
        for (changeIndex, (key, change)) in batch.changes.enumerated() {
            guard case .write(let entry, let request, let limits) = change.action else { continue }
            let concealed = entry.concealed(by: conceal, for: request, identifying: entry.identifying)
            let start = writer.count
            // Nil, or false below, if the entry may not be written.
            guard let terms = terms.withLock({ $0.terms(of: concealed) }),
                CacheEntryFormat.write(
                    concealed, terms: terms, digest: CacheEntryFormat.digest(of: key.address), to: &writer)
            else { continue }
            guard writer.count - start <= limits.maxEntrySize(capacity) else {
                // Removes the octets of an entry that is too large.
                writer.remove(from: start)
                continue
            }
            drafts.append((changeIndex, terms, entry.storedTime))
            lengths.append(writer.count - start)
        }
        if lengths.isEmpty { return records }
        // Creates the folder for its first entry.
        if folder.access == .none { openForWriting(capacity) }
        // `from: 0` passes all octets of the writer.
        let locations = writer.withOctets(from: 0) { folder.append($0, lengths: lengths, capacity: capacity) }
        guard let locations else {
            // The folder may have been removed; the next batch then creates it again.
            resetIfRemoved()
            return records
        }
        for (draft, location) in zip(drafts, locations) {
            records[draft.changeIndex] = CacheIndex.Record(
                location: location, storedTime: draft.storedTime, terms: draft.terms)
        }
        return records
    }

    /// Opens the folder and creates it if it is missing.
    private func openForWriting(_ capacity: Int) {
        if let index = folder.open(capacity: capacity, createsFolder: true) {
            let isWriter = folder.access == .writer
            state.withLock { $0.replaceIndex(with: index, isWriter: isWriter) }
        }
        folder.releaseInitialIndex()
    }

    /// Replaces the index file after a failed write of changes, because the old file still refers to entries that were replaced
    /// or removed. If the replacement fails too, empties the folder.
    private func repairIndex() {
        if resetIfRemoved() { return }
        if folder.replaceIndex(state.withLock { $0.index.changes }) { return }
        folder.removeAllEntries()
        state.withLock { $0.index = CacheIndex() }
    }

    /// Starts with an empty index if another process or the user has removed the folder; returns false if the folder exists.
    @discardableResult
    private func resetIfRemoved() -> Bool {
        guard folder.closeIfRemoved() else { return false }
        state.withLock { state in
            state.index = CacheIndex()
            state.removalsAsReader = PendingRemovals()
        }
        return true
    }

    // MARK: compacting

    /// Evicts entries from the folder until it is within its capacity, and logs the evictions.
    func evictFromFolder() {
        readFolderIndex()
        state.withLock { $0.evictFromFolder() }
        // Logs the evictions; the pending changes wait for their own batch.
        writeBatch(onlyLogs: true)
    }

    /// Removes segments without entries, rewrites at most one segment that is mostly unused, and rewrites the index file if it
    /// contains many obsolete changes. `clearCount` is the state's count when the batch began.
    private func compactFolder(_ capacity: Int, _ clearCount: Int) {
        guard folder.access == .writer else { return }
        let (liveBytesBySegment, entryCount) = state.withLock { ($0.index.liveBytes, $0.index.count) }
        folder.removeSegmentsWithoutEntries(liveBytesBySegment)
        if let segment = folder.segmentToRewrite(capacity: capacity, liveBytes: liveBytesBySegment) {
            rewrite(segment, capacity, clearCount)
            // The rewritten segment has no entries now.
            folder.removeSegmentsWithoutEntries(state.withLock { $0.index.liveBytes })
        }
        if folder.isIndexWorthRewriting(entryCount) {
            // If this fails, the old index file remains, which describes the same entries.
            _ = folder.replaceIndex(state.withLock { $0.index.changes })
        }
    }

    /// Copies the entries of a segment to the current segment, and records their new locations. Entries that cannot be read are
    /// removed from the index. If the state's `clearCount` differs from the given one, the locations are not recorded, because
    /// the folder will be emptied.
    private func rewrite(_ segment: UInt64, _ capacity: Int, _ clearCount: Int) {
        var moved: [(key: CacheKey, oldLocation: EntryLocation)] = []
        var octets: [UInt8] = []
        var unreadableKeys: [CacheKey] = []
        for (key, record) in state.withLock({ $0.index.entries(in: segment) }) {
            guard let entry = folder.octets(at: record.location), entry.count == record.location.length else {
                unreadableKeys.append(key)
                continue
            }
            moved.append((key, record.location))
            octets += entry
        }
        state.withLock { $0.removeFromIndex(unreadableKeys) }
        // If writing the copies or logging their locations fails, the entries stay at their old locations.
        guard
            let locations = folder.append(
                octets.span, lengths: moved.map(\.oldLocation.length), capacity: capacity),
            folder.log(zip(moved, locations).map { .moved($0.oldLocation.start, $1) })
        else { return }
        state.withLock { state in
            if state.clearCount != clearCount { return }
            for ((key, oldLocation), location) in zip(moved, locations) {
                // Does nothing for an entry that was replaced or removed during the copy.
                _ = state.index.move(key, from: oldLocation, to: location)
            }
        }
    }
}
