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
            return state.claimBatch()
        }
        folder.releaseInitialIndex()
        while state.withLock({ $0.evictFromFolder() }) {}
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
        let batch = takeBatch(upTo: onlyLogs ? 0 : Self.batchSize)
        if batch.isEmpty { return }
        let capacity = diskCapacity
        if batch.mustClear {
            folder.clear(capacity: capacity)
            let access = folder.access
            state.withLock { state in
                // If `clearFolder` was called again meanwhile, the next batch empties the folder.
                if state.clearCount != batch.clearCount { return }
                state.mustClear = false
                // A reader cannot empty the folder. It keeps the removals until it becomes the writer.
                // With `none` there is usually no folder, and so nothing to remove.
                if access != .reader { state.removalsAsReader = access == .writer ? nil : PendingRemovals() }
            }
        }
        writeAndRecord(batch, capacity)
        while state.withLock({ $0.evictFromFolder() }) {}
        compactFolder(capacity, batch.clearCount)
    }

    /// Returns the next changes, up to this total size in bytes; with a size of 0 no changes, only uses and evictions.
    private func takeBatch(upTo size: Int) -> Batch {
        var batch = state.withLock { $0.beginBatch() }
        while state.withLock({ $0.extendBatch(&batch, upTo: size) }) {}
        return batch
    }

    /// Becomes the folder's writer, if there is anything to write and the folder has no writer.
    private func becomeWriter() {
        guard folder.access == .reader, !state.withLock({ $0.hasNothingToWrite }),
            let index = folder.becomeWriter(capacity: diskCapacity)
        else { return }
        state.withLock { $0.replaceIndex(with: index, isWriter: true) }
    }

    // MARK: writing a batch

    /// Appends the entries of a batch to the folder, logs the changes and records them in the state. If `clearFolder` was called
    /// after the batch began, the changes are neither logged nor recorded, because the folder will be emptied.
    private func writeAndRecord(_ batch: Batch, _ capacity: Int) {
        if folder.lacksIndex { repairIndex() }
        let records = append(batch, capacity)
        let isLogged = folder.log(logChanges(of: batch, records))
        // If the log was not written, the index must not refer to the entries either.
        record(batch, isLogged ? records : [CacheIndex.Record?](repeating: nil, count: records.count))
        if !isLogged, folder.access == .writer { repairIndex() }
    }

    /// Returns the changes that the log of the folder has to contain after a batch; none if the folder will be emptied.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - records: The index record of each change of the batch; nil for a removal, and for an entry that was not written.
    private func logChanges(of batch: Batch, _ records: [CacheIndex.Record?]) -> [CacheLog.Change] {
        var changes: [CacheLog.Change] = []
        changes.reserveCapacity(batch.evictedStarts.count + batch.usedKeys.count + batch.changes.count)
        for start in batch.evictedStarts { changes.append(.removed(start)) }
        var removedKeys: [CacheKey] = []
        for (position, record) in records.enumerated() where record == nil {
            removedKeys.append(batch.changes[position].key)
        }
        for start in starts(of: batch.usedKeys) { changes.append(.used(start)) }
        for start in starts(of: removedKeys) { changes.append(.removed(start)) }
        for (position, record) in records.enumerated() {
            if let record { changes.append(.stored(batch.changes[position].key, record)) }
        }
        return state.withLock { $0.clearCount } == batch.clearCount ? changes : []
    }

    /// Returns where the entries under these keys are in the folder, without the keys that the index does not have.
    private func starts(of keys: [CacheKey]) -> [EntryLocation.Start] {
        var starts: [EntryLocation.Start] = []
        starts.reserveCapacity(keys.count)
        forEachPiece(of: keys.count) { state, range in
            for key in keys[range] {
                if let record = state.index[key] { starts.append(record.location.start) }
            }
            return true
        }
        return starts
    }

    /// Records that a batch was written, unless the folder will be emptied.
    private func record(_ batch: Batch, _ records: [CacheIndex.Record?]) {
        forEachPiece(of: batch.changes.count) { state, range in
            // A call of `clearFolder` between two pieces has also removed what was recorded before.
            guard state.clearCount == batch.clearCount else { return false }
            state.recordWritten(range, of: batch, records)
            return true
        }
        // As `recordWritten` requires.
        withExtendedLifetime(batch) {}
    }

    /// Calls `body` for each piece of `0..<count`, under a lock of its own, until `body` returns false. The state may change
    /// between two pieces.
    private func forEachPiece(of count: Int, _ body: (inout State, Range<Int>) -> Bool) {
        for start in stride(from: 0, to: count, by: State.pieceLength) {
            let range = start..<min(start + State.pieceLength, count)
            guard state.withLock({ body(&$0, range) }) else { return }
        }
    }

    /// Appends the entries of a batch to the segments, which are files of the folder. Returns the index record of each change;
    /// nil for a removal, and for an entry that was not written.
    private func append(_ batch: Batch, _ capacity: Int) -> [CacheIndex.Record?] {
        var records = [CacheIndex.Record?](repeating: nil, count: batch.changes.count)
        if batch.writeCount == 0 { return records }
        // The encoded entries that are not in a segment yet.
        var drafts = Drafts(batch.size + batch.writeCount * CacheEntryFormat.typicalOverhead)
        for (changeIndex, (key, change)) in batch.changes.enumerated() {
            guard case .write(let entry, let request, let limits) = change.action else { continue }
            // Without a request the entry holds no secrets.
            let concealed =
                request.map { entry.concealed(by: conceal, for: $0, identifying: entry.identifying) } ?? entry
            let start = drafts.octets.count
            // Nil, or false below, if the entry may not be written.
            guard let terms = terms.withLock({ $0.terms(of: concealed) }),
                CacheEntryFormat.write(
                    concealed, terms: terms, digest: CacheEntryFormat.digest(of: key.address),
                    to: &drafts.octets)
            else { continue }
            let length = drafts.octets.count - start
            guard length <= limits.maxEntrySize(capacity) else {
                // Removes the octets of an entry that is too large.
                drafts.octets.remove(from: start)
                continue
            }
            drafts.lengths.append(length)
            drafts.entries.append((changeIndex, terms, entry.storedTime))
            if drafts.octets.count >= Drafts.typicalSize, !append(&drafts, capacity, &records) {
                return [CacheIndex.Record?](repeating: nil, count: records.count)
            }
        }
        if drafts.lengths.isEmpty || append(&drafts, capacity, &records) { return records }
        return [CacheIndex.Record?](repeating: nil, count: records.count)
    }

    /// Encoded entries of a batch that wait to be appended to a segment.
    private struct Drafts: Sendable {
        /// The drafts are appended when they have this many octets: 64 KiB. Their buffer is used again, and it stays in the
        /// processor's cache and in the allocator's.
        static let typicalSize = 64 << 10

        var octets: OctetWriter
        var lengths: [Int] = []
        /// What is known of the entries before their locations are.
        var entries: [(changeIndex: Int, terms: CacheTerms, storedTime: Date)] = []

        /// - Parameter expectedSize: About how many octets the entries of the batch will have.
        init(_ expectedSize: Int) {
            octets = OctetWriter(capacity: min(expectedSize, Self.typicalSize + 4_096))
        }
    }

    /// Appends encoded entries to the segments, and sets their records. Returns false if that fails; the index must then refer to
    /// no entry of the batch.
    private func append(
        _ drafts: inout Drafts, _ capacity: Int, _ records: inout [CacheIndex.Record?]
    ) -> Bool {
        // Creates the folder for its first entry.
        if folder.access == .none { openForWriting(capacity) }
        let lengths = drafts.lengths
        // `from: 0` passes all octets of the writer.
        let locations = drafts.octets.withOctets(from: 0) {
            folder.append($0, lengths: lengths, capacity: capacity)
        }
        guard let locations else {
            // The folder may have been removed; the next batch then creates it again.
            resetIfRemoved()
            return false
        }
        for (draft, location) in zip(drafts.entries, locations) {
            records[draft.changeIndex] = CacheIndex.Record(
                location: location, storedTime: draft.storedTime, terms: draft.terms)
        }
        drafts.octets.remove(from: 0)
        drafts.lengths.removeAll(keepingCapacity: true)
        drafts.entries.removeAll(keepingCapacity: true)
        return true
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
        while state.withLock({ $0.evictFromFolder() }) {}
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
        for (key, record) in entries(in: segment) {
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
        forEachPiece(of: moved.count) { state, range in
            guard state.clearCount == clearCount else { return false }
            for position in range {
                let (key, oldLocation) = moved[position]
                // Does nothing for an entry that was replaced or removed during the copy.
                _ = state.index.move(key, from: oldLocation, to: locations[position])
            }
            return true
        }
    }

    /// Returns the entries in a segment.
    private func entries(in segment: UInt64) -> [(key: CacheKey, record: CacheIndex.Record)] {
        let keys = state.withLock { $0.index.keys(in: segment) }
        var entries: [(key: CacheKey, record: CacheIndex.Record)] = []
        forEachPiece(of: keys.count) { state, range in
            for key in keys[range] {
                guard let record = state.index[key], record.location.segment == segment else { continue }
                entries.append((key, record))
            }
            return true
        }
        // A key is there twice if its entry was written to the segment again.
        var seen: Set<CacheKey> = []
        return entries.filter { seen.insert($0.key).inserted }
    }
}
