// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Writes a batch of a store's pending changes to its folder. Runs on the storage queue.
///
/// A batch is a group of pending changes that are written together. It is appended to a segment of the folder first, then logged
/// in the folder's index file, and then recorded in the store's state, so that the index never refers to an entry that is not
/// written. The store's lock is released between any two pieces of a batch, and is not held while the disk is used.
struct CacheBatchWriter {
    /// The number of bytes after which a batch ends: 1 MiB. Other jobs of the storage queue run between two batches.
    private static let batchSize = 1 << 20

    let store: CacheStore
    private var folder: CacheFolder { store.folder }

    /// Writes the next changes, up to the size of a batch. Returns false if the folder could not be emptied before; the changes of
    /// the batch are then dropped, as on a full disk, and the next batch empties the folder.
    ///
    /// - Parameter onlyLogs: Whether to log only uses and evictions, and to leave the changes pending.
    @discardableResult
    func writeBatch(onlyLogs: Bool) -> Bool {
        store.readFolderIndex()
        becomeWriter()
        let batch = takeBatch(upTo: onlyLogs ? 0 : Self.batchSize)
        if batch.isEmpty { return true }
        let capacity = store.diskCapacity
        if batch.mustClear, !clear(for: batch, capacity) {
            record(batch, [CacheIndex.Record?](repeating: nil, count: batch.changes.count))
            return false
        }
        writeAndRecord(batch, capacity)
        while store.state.withLock({ $0.evictFromFolder() }) {}
        compactFolder(capacity, batch.clearCount)
        return true
    }

    /// Empties the folder before a batch is written. Returns false if that fails.
    private func clear(for batch: CacheStore.Batch, _ capacity: Int) -> Bool {
        let isCleared = folder.clear(capacity: capacity)
        let access = folder.access
        store.state.withLock { state in
            // If `clearFolder` was called again meanwhile, the next batch empties the folder.
            if state.clearCount != batch.clearCount { return }
            state.mustClear = !isCleared
            state.hasFailedToClear = !isCleared
            // A reader cannot empty the folder. It keeps the removals until it becomes the writer.
            // With `none` there is no folder, and so nothing to remove.
            if isCleared, access != .reader {
                state.removalsAsReader = access == .writer ? nil : PendingRemovals()
            }
        }
        return isCleared
    }

    /// Returns the next changes, up to this total size in bytes; with a size of 0 no changes, only uses and evictions.
    private func takeBatch(upTo size: Int) -> CacheStore.Batch {
        var batch = store.state.withLock { $0.beginBatch() }
        while store.state.withLock({ $0.extendBatch(&batch, upTo: size) }) {}
        return batch
    }

    /// Becomes the folder's writer, if there is anything to write and the folder has no writer.
    private func becomeWriter() {
        guard folder.access == .reader, !store.state.withLock({ $0.hasNothingToWrite }),
            let index = folder.becomeWriter(capacity: store.diskCapacity)
        else { return }
        store.state.withLock { $0.replaceIndex(with: index, isWriter: true) }
    }

    // MARK: writing a batch

    /// Appends the entries of a batch to the folder, logs the changes and records them in the state. If `clearFolder` was called
    /// after the batch began, the changes are neither logged nor recorded, because the folder will be emptied.
    private func writeAndRecord(_ batch: CacheStore.Batch, _ capacity: Int) {
        if folder.lacksIndex { repairIndex() }
        let records = append(batch, capacity)
        store.terms.withLock { $0.endBatch() }
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
    private func logChanges(of batch: CacheStore.Batch, _ records: [CacheIndex.Record?]) -> [CacheLog.Change]
    {
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
        return store.state.withLock { $0.clearCount } == batch.clearCount ? changes : []
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
    private func record(_ batch: CacheStore.Batch, _ records: [CacheIndex.Record?]) {
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
    private func forEachPiece(of count: Int, _ body: (inout CacheStore.State, Range<Int>) -> Bool) {
        for start in stride(from: 0, to: count, by: CacheStore.State.pieceLength) {
            let range = start..<min(start + CacheStore.State.pieceLength, count)
            guard store.state.withLock({ body(&$0, range) }) else { return }
        }
    }

    /// Appends the entries of a batch to the segments, which are files of the folder. Returns the index record of each change;
    /// nil for a removal, and for an entry that was not written.
    private func append(_ batch: CacheStore.Batch, _ capacity: Int) -> [CacheIndex.Record?] {
        var records = [CacheIndex.Record?](repeating: nil, count: batch.changes.count)
        if batch.writeCount == 0 { return records }
        // The encoded entries that are not in a segment yet.
        var drafts = Drafts(batch.size + batch.writeCount * CacheEntryFormat.typicalOverhead)
        for (changeIndex, (key, change)) in batch.changes.enumerated() {
            guard case .write(let entry, let limits) = change.action else { continue }
            let start = drafts.octets.count
            // The first access may read the key from a file.
            let hash = entry.vary.mustBeConcealed ? store.folderHash : nil
            // Nil, or false below, if the entry may not be written.
            guard let terms = store.terms.withLock({ $0.terms(of: entry, hash: hash) }),
                CacheEntryFormat.write(
                    entry, terms: terms, address: key.address, to: &drafts.octets)
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
            store.state.withLock { $0.replaceIndex(with: index, isWriter: isWriter) }
        }
        folder.releaseInitialIndex()
    }

    /// Replaces the index file after a failed write of changes, because the old file still refers to entries that were replaced
    /// or removed. If the replacement fails too, empties the folder.
    private func repairIndex() {
        if resetIfRemoved() { return }
        if folder.replaceIndex(store.state.withLock { $0.index.changes }) { return }
        folder.removeAllEntries()
        store.state.withLock { $0.index = CacheIndex() }
    }

    /// Starts with an empty index if another process or the user has removed the folder; returns false if the folder exists.
    @discardableResult
    private func resetIfRemoved() -> Bool {
        guard folder.closeIfRemoved() else { return false }
        store.state.withLock { state in
            state.index = CacheIndex()
            state.removalsAsReader = PendingRemovals()
        }
        return true
    }

    // MARK: compacting

    /// Removes segments without entries, rewrites at most one segment that is mostly unused, and rewrites the index file if it
    /// contains many obsolete changes. `clearCount` is the state's count when the batch began.
    private func compactFolder(_ capacity: Int, _ clearCount: Int) {
        guard folder.access == .writer else { return }
        let (liveBytesBySegment, entryCount) = store.state.withLock { ($0.index.liveBytes, $0.index.count) }
        folder.removeSegmentsWithoutEntries(liveBytesBySegment)
        if let segment = folder.segmentToRewrite(capacity: capacity, liveBytes: liveBytesBySegment) {
            rewrite(segment, capacity, clearCount)
            // The rewritten segment has no entries now.
            folder.removeSegmentsWithoutEntries(store.state.withLock { $0.index.liveBytes })
        }
        if folder.isIndexWorthRewriting(entryCount) {
            // If this fails, the old index file remains, which describes the same entries.
            _ = folder.replaceIndex(store.state.withLock { $0.index.changes })
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
        store.state.withLock { $0.removeFromIndex(unreadableKeys) }
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
        let keys = store.state.withLock { $0.index.keys(in: segment) }
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
