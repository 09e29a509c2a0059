// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The state of a store, which its only lock protects: the entries in memory, the index of the folder, and the pending changes.
///
/// A pending change is one that the storage queue has not written to the folder yet. A batch is a group of pending changes that
/// the storage queue writes together.
///
/// The state is a value type and does not access the disk. Its functions return the objects that they remove, so that the caller
/// releases them outside of the lock: they may contain a program's objects, whose `deinit` can run any code.
extension CacheStore {
    struct State: Sendable {
        /// The entries in memory.
        var memory = PartitionedRecencyList<CacheKey, CacheEntry>()
        /// The largest total size of the entries in memory, in bytes.
        var memoryCapacity: Int
        /// The largest total size of the entries in the folder, in bytes.
        var diskCapacity: Int
        /// The index of the folder; empty until `hasReadFolder` is true.
        var index = CacheIndex()
        /// Whether `index` describes the folder: its index file was read, or all its entries count as removed.
        var hasReadFolder = false
        /// The hash that conceals secrets in the folder, once its key has been read.
        var hash: KeyedHash?
        /// The changes that are not in the folder yet.
        var pendingChanges: [CacheKey: PendingChange] = [:]
        /// The keys and numbers of the changes, in the order of the calls. An element is obsolete if `pendingChanges` has another
        /// number for its key.
        var queue = Queue<(key: CacheKey, number: UInt64)>()
        /// The total size of the entries that wait to be written, in bytes.
        var pendingSize = 0
        /// Whether the next batch has to empty the folder before it writes changes. The folder's entries already count as
        /// removed.
        var mustClear = false
        /// Whether the last attempt to empty the folder has failed. The next one then starts after `batchInterval`.
        var hasFailedToClear = false
        /// How often `clearFolder` was called. A batch that began before the last call is not recorded.
        var clearCount = 0
        /// The addresses whose entries were removed before the folder was read. Their entries in the folder count as removed, and
        /// are removed when the folder is read.
        var hiddenAddresses: Set<String> = []
        /// The addresses whose entries this cache has replaced or removed while it was not the folder's writer; nil if it is the
        /// writer.
        var removalsAsReader: PendingRemovals? = PendingRemovals()
        /// The number of the last requested change.
        var lastChangeNumber: UInt64 = 0
        /// Whether a batch is scheduled, and how it will start.
        var batchSchedule = BatchSchedule.none
        /// The earliest time at which the next batch starts, unless `undelayedSize` bytes wait.
        var nextBatchTime = Instant(nanoseconds: 0)
        /// Whether the `URLCache` was released. Batches then start without a delay.
        var isReleased = false
        /// The keys of entries that were used after the last batch. The next batch logs the uses in the folder.
        var usedKeys: [CacheKey] = []
        /// The locations of evicted entries, until their removal is logged in the folder.
        var evictedStarts: [EntryLocation.Start] = []
        /// How many entries were not written because too many bytes were waiting. Tests read it.
        var droppedCount = 0
    }

    /// Whether a batch is scheduled, and how it will start.
    enum BatchSchedule: Hashable, Sendable {
        /// No batch is scheduled.
        case none
        /// An alarm is set for `nextBatchTime`.
        case alarm
        /// The batch is a job on the storage queue, or is running there.
        case queued
    }

    /// When a batch has to start on the storage queue.
    enum BatchStart: Hashable, Sendable {
        /// Immediately.
        case now
        /// At this time.
        case at(Instant)
    }

    /// The result of a look-up of one key in memory, in the pending changes and in the folder's index.
    enum LookUpResult: Sendable {
        case entry(CacheEntry)
        /// No entry has the key.
        case nothing
        /// The entry has to be read from the folder, at the location in this record.
        case onDisk(CacheIndex.Record)
        /// The folder has not been read yet.
        case unknown
    }

    /// What the storage queue writes to the folder at a time.
    struct Batch: Sendable {
        /// Whether to empty the folder first.
        var mustClear = false
        /// The state's `clearCount` and `lastChangeNumber` when the batch began.
        var clearCount = 0
        var lastChangeNumber: UInt64 = 0
        var changes: [(key: CacheKey, change: PendingChange)] = []
        /// The total size of the entries to be written, in bytes.
        var size = 0
        /// The number of entries to be written. The other changes are removals.
        var writeCount = 0
        /// The keys of used entries, and the locations of evicted ones, to be logged.
        var usedKeys: [CacheKey] = []
        var evictedStarts: [EntryLocation.Start] = []

        var isEmpty: Bool { !mustClear && changes.isEmpty && usedKeys.isEmpty && evictedStarts.isEmpty }
    }
}

extension CacheStore.State {
    /// The largest number of uses that a batch logs. A batch is scheduled when this many wait to be logged.
    private static let maxLoggedUses = 512
    /// The time from the end of a batch to the start of the next one. Without it, a program that stores one response after the
    /// other would wake the storage queue for each response.
    private static let batchInterval = Interval.milliseconds(50)
    /// A batch is not delayed if this many bytes wait to be written: 512 KiB.
    private static let undelayedSize = 512 << 10

    // MARK: looking up

    /// Returns the entry in memory under a key, and makes it the most recently used.
    mutating func useInMemory(_ key: CacheKey) -> CacheEntry? {
        guard let entry = memory.use(key) else { return nil }
        if hasReadFolder { recordUse(key) }
        return entry
    }

    /// Makes an entry of the folder the most recently used, and records its key for the log of the folder. Beyond
    /// `maxLoggedUses`, the log does not contain the use.
    mutating func recordUse(_ key: CacheKey) {
        if index.use(key) != nil, usedKeys.count < Self.maxLoggedUses { usedKeys.append(key) }
    }

    /// Looks up a key in the pending changes, then in the folder's index.
    func lookUp(_ key: CacheKey) -> CacheStore.LookUpResult {
        // A pending change without an entry is a removal.
        if let change = pendingChanges[key] { return change.entry.map { .entry($0) } ?? .nothing }
        if mustClear || diskCapacity == 0 { return .nothing }
        if hasReadFolder { return index[key].map { .onDisk($0) } ?? .nothing }
        return hiddenAddresses.contains(key.address) ? .nothing : .unknown
    }

    // MARK: changing

    /// Puts an entry into memory if it is not too large. Removes the previous entry under the key even if the new one is too
    /// large.
    mutating func insertIntoMemory(
        _ entry: CacheEntry, for key: CacheKey, _ limits: CacheStore.SizeLimits,
        _ removed: inout CacheStore.RemovedObjects
    ) {
        let fits = entry.size <= limits.maxEntrySize(memoryCapacity)
        let old = fits ? memory.insert(entry, for: key, cost: entry.size) : memory.remove(key)
        if let old { removed.entries.append(old) }
        evict(&removed)
    }

    /// Puts an entry that was read from the folder at `location` into memory, unless it was replaced or removed during the read.
    mutating func insertReadEntry(
        _ entry: CacheEntry, for key: CacheKey, from location: EntryLocation,
        _ removed: inout CacheStore.RemovedObjects
    ) {
        let isCurrent =
            memory[key] == nil && pendingChanges[key] == nil && !mustClear && index[key]?.location == location
        guard isCurrent,
            entry.size <= CacheStore.SizeLimits.loader.maxEntrySize(memoryCapacity)
        else { return }
        memory.insert(entry, for: key, cost: entry.size)
        evict(&removed)
    }

    /// Evicts entries from memory until it is within its capacity.
    mutating func evict(_ removed: inout CacheStore.RemovedObjects) {
        while memory.cost > memoryCapacity, let (_, entry) = memory.removeLeastRecent() {
            removed.entries.append(entry)
        }
    }

    /// Whether an entry of this size may be written to the folder. Increments `droppedCount` if it may not because too many bytes
    /// wait to be written.
    mutating func mayWrite(_ size: Int, _ limits: CacheStore.SizeLimits) -> Bool {
        guard size <= limits.maxEntrySize(diskCapacity) else { return false }
        if size <= limits.maxWaitingSize(diskCapacity) - pendingSize { return true }
        droppedCount += 1
        return false
    }

    /// Removes the entry under a key from memory and disk.
    mutating func remove(_ key: CacheKey) -> CacheStore.RemovedObjects {
        var removed = CacheStore.RemovedObjects()
        if let old = memory.remove(key) { removed.entries.append(old) }
        if diskCapacity > 0 { addChange(to: key, .remove, &removed) }
        return removed
    }

    /// Records a pending change to an entry of the folder. It replaces the previous pending change to the same entry, which
    /// `removed` receives.
    mutating func addChange(
        to key: CacheKey, _ action: CacheStore.PendingChange.Action,
        _ removed: inout CacheStore.RemovedObjects
    ) {
        lastChangeNumber += 1
        removalsAsReader?.insert(key.address)
        let change = CacheStore.PendingChange(action: action, number: lastChangeNumber)
        removed.pendingChange = pendingChanges.updateValue(change, forKey: key)
        pendingSize += (change.entry?.size ?? 0) - (removed.pendingChange?.entry?.size ?? 0)
        // A removal need not be written if the folder has no such entry. If the removal has replaced a pending change, a running
        // batch may be writing that change, so the removal is kept.
        if case .remove = action, removed.pendingChange == nil {
            let isNotInFolder = mustClear || (hasReadFolder && index[key] == nil)
            if isNotInFolder {
                pendingChanges[key] = nil
                return
            }
        }
        queue.append((key, lastChangeNumber))
    }

    /// Drops all pending changes.
    mutating func dropPendingChanges() {
        pendingChanges = [:]
        queue = Queue()
        pendingSize = 0
    }

    /// Makes the next batch empty the folder before later changes.
    mutating func clearFolder() {
        // Emptying the folder counts as a requested change.
        lastChangeNumber += 1
        clearCount += 1
        removalsAsReader?.insertAll()
        mustClear = true
        hasFailedToClear = false
        // The folder need not be read, because all its entries count as removed.
        hasReadFolder = true
        index = CacheIndex()
        hiddenAddresses = []
        usedKeys = []
    }

    /// Returns the keys of an address, in all partitions, for which an entry may exist.
    func keys(of address: String) -> [CacheKey] {
        let defaultKey = CacheKey(address: address, partition: nil)
        // The keys outside of the default partition.
        let others = memory.partitionedKeys(of: address).union(index.partitionedKeys(of: address))
        return [defaultKey]
            + others.union(pendingChanges.keys.filter { !$0.isInDefaultPartition && $0.address == address })
    }

    /// Returns the keys of the entries stored at this time or later.
    func keys(storedSince date: Date) -> Set<CacheKey> {
        var keys = Set(
            memory.keysFromLeastRecent.filter { memory[$0].map { $0.storedTime >= date } ?? false })
        keys.formUnion(index.keysFromLeastRecent.filter { index[$0].map { $0.storedTime >= date } ?? false })
        keys.formUnion(pendingChanges.filter { $0.value.entry.map { $0.storedTime >= date } ?? false }.keys)
        return keys
    }

    /// Makes all entries of an address in the folder count as removed, if the folder has not been read yet.
    mutating func hideUnreadEntries(of address: String) {
        if diskCapacity == 0 { return }
        removalsAsReader?.insert(address)
        if !hasReadFolder { hiddenAddresses.insert(address) }
    }

    /// Sets the index that the folder had when it was opened; does nothing if the index was set before. Removes the entries of
    /// `hiddenAddresses`. `isWriter` tells whether this process is the folder's writer.
    mutating func setInitialIndex(_ newIndex: CacheIndex, isWriter: Bool) {
        if hasReadFolder { return }
        hasReadFolder = true
        index = newIndex
        if isWriter { removalsAsReader = nil }
        for address in hiddenAddresses {
            // The call that has hidden the address has requested the removal of its default key, so this leaves out that key.
            for key in index.partitionedKeys(of: address) where pendingChanges[key] == nil {
                // Stays empty, because no pending change is replaced.
                var removed = CacheStore.RemovedObjects()
                addChange(to: key, .remove, &removed)
            }
        }
        hiddenAddresses = []
    }

    // MARK: batches

    /// Whether there is nothing to write, even if this cache becomes the folder's writer and then has to remove the entries of
    /// `removalsAsReader`.
    var hasNothingToWrite: Bool {
        queue.isEmpty && !mustClear && usedKeys.isEmpty && evictedStarts.isEmpty
            && removalsAsReader?.isEmpty ?? true
    }

    /// Marks a batch as scheduled, and returns when it has to start. The caller must pass the result to `schedule(_:)`. Returns
    /// nil if there is nothing to write, or if a batch is scheduled already.
    mutating func claimBatch() -> CacheStore.BatchStart? {
        // Uses alone are worth a batch only if there are many; fewer are logged together with later changes.
        if queue.isEmpty, !mustClear, usedKeys.count < Self.maxLoggedUses { return nil }
        let mayWait = hasFailedToClear || pendingSize < Self.undelayedSize && !mustClear && !isReleased
        switch batchSchedule {
        case .queued: return nil
        case .alarm where mayWait: return nil
        case .none where mayWait && MonotonicClock().now() < nextBatchTime:
            batchSchedule = .alarm
            return .at(nextBatchTime)
        case .none, .alarm:
            batchSchedule = .queued
            return .now
        }
    }

    /// Called by the alarm of a batch. Returns whether the caller has to queue the batch; false if it was queued before the
    /// alarm.
    mutating func alarmFired() -> Bool {
        guard batchSchedule == .alarm else { return false }
        batchSchedule = .queued
        return true
    }

    /// Called at the end of a batch. Returns when the next batch has to start; nil if there is nothing to write.
    mutating func endBatch() -> CacheStore.BatchStart? {
        batchSchedule = .none
        nextBatchTime = MonotonicClock().now() + Self.batchInterval
        return claimBatch()
    }

    /// The storage queue goes through changes in pieces of this many, and releases the lock after each piece, so that no caller
    /// waits for a whole batch.
    static let pieceLength = 16

    /// Begins a batch without changes: takes the uses and evictions to be logged.
    mutating func beginBatch() -> CacheStore.Batch {
        // `mustClear` stays set until the folder is empty.
        var batch = CacheStore.Batch(
            mustClear: mustClear, clearCount: clearCount, lastChangeNumber: lastChangeNumber)
        // Moves the arrays into the batch; the empty arrays of the batch become the state's.
        swap(&batch.usedKeys, &usedKeys)
        swap(&batch.evictedStarts, &evictedStarts)
        return batch
    }

    /// Moves a piece of the queue into a batch, without the obsolete changes. The changes stay in `pendingChanges` until they are
    /// written. Returns false if the batch is complete: it has `size` bytes, or all changes requested before it began.
    mutating func extendBatch(_ batch: inout CacheStore.Batch, upTo size: Int) -> Bool {
        // The folder has to be emptied before later changes are written.
        if clearCount != batch.clearCount { return false }
        for _ in 0..<Self.pieceLength {
            guard batch.size < size, let (key, number) = queue.first, number <= batch.lastChangeNumber,
                queue.popFirst() != nil
            else { return false }
            guard let change = pendingChanges[key], change.number == number else { continue }
            if let entry = change.entry {
                batch.size += entry.size
                batch.writeCount += 1
            }
            batch.changes.append((key, change))
        }
        return true
    }

    /// Records that the changes of a batch in this range were written. A change that a later call has replaced in the meantime
    /// stays pending. The caller must keep the batch until it has released the lock: then none of the changes, which may contain
    /// a program's objects, is released here.
    ///
    /// - Parameters:
    ///   - range: The range of the changes.
    ///   - batch: The batch.
    ///   - records: The index record of each change of the batch; nil for a removal, and for an entry that was not written.
    mutating func recordWritten(
        _ range: Range<Int>, of batch: CacheStore.Batch, _ records: [CacheIndex.Record?]
    ) {
        for position in range {
            let key = batch.changes[position].key
            if let pending = pendingChanges.index(forKey: key),
                pendingChanges.values[pending].number == batch.changes[position].change.number
            {
                pendingSize -= pendingChanges.remove(at: pending).value.entry?.size ?? 0
            }
            if let record = records[position] { index.insert(record, for: key) } else { index.remove(key) }
        }
    }

    /// Evicts a piece of the entries by which the folder exceeds its capacity. Returns whether there are more.
    mutating func evictFromFolder() -> Bool {
        for _ in 0..<Self.pieceLength {
            guard index.cost > diskCapacity, let record = index.removeLeastRecent() else { return false }
            evictedStarts.append(record.location.start)
        }
        return true
    }

    /// Removes entries from the index, because they could not be read or are obsolete. The next batch logs their removal.
    mutating func removeFromIndex(_ keys: [CacheKey]) {
        for key in keys {
            if let record = index.remove(key) { evictedStarts.append(record.location.start) }
        }
    }

    /// Replaces the index by one that was read again, because another process may have written to the folder. Entries that this
    /// cache has replaced or removed as a reader stay removed. `isWriter` tells whether this process is the folder's writer.
    mutating func replaceIndex(with newIndex: CacheIndex, isWriter: Bool) {
        let previousIndex = index
        index = newIndex
        for key in newIndex.keysFromLeastRecent where removalsAsReader?.contains(key.address) ?? false {
            // An entry that this cache has removed is missing in its previous index, or has a pending change. So an entry at the
            // same location as in the previous index is kept.
            if let location = newIndex[key]?.location, previousIndex[key]?.location != location {
                removeFromIndex([key])
            }
        }
        if isWriter { removalsAsReader = nil }
    }
}
