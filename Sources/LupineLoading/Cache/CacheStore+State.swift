// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The state of a store, which its only lock protects: the entries in memory, the index of the folder, and the pending changes.
///
/// A value type without disk access. Its functions return the objects that they remove, so that the caller releases them outside
/// of the lock: they may contain a program's objects, whose `deinit` can do anything.
extension CacheStore {
    struct State: Sendable {
        var memory = PartyList<CacheKey, CacheEntry>()
        var memoryCapacity: Int
        var diskCapacity: Int
        /// The index of the folder; empty until `hasReadFolder` is true.
        var index = CacheIndex()
        var hasReadFolder = false
        /// The hash that conceals secrets in the folder, once its key has been read.
        var hash: KeyedHash?
        /// The changes that are not in the folder yet.
        var pending: [CacheKey: Pending] = [:]
        /// The keys of the changes in the order of the calls. An element is obsolete if `pending` has another number for its key.
        var queue: [(key: CacheKey, number: UInt64)] = []
        /// The total size of the entries waiting to be written.
        var pendingSize = 0
        /// Whether the folder has to be emptied before the pending changes; its entries count as removed.
        var mustClear = false
        /// How often `clearFolder` was called; a batch that began before the last call is dropped.
        var clearCount = 0
        /// The addresses whose entries were removed before the folder was read. Their entries in the folder count as removed, and
        /// are removed when the folder is read.
        var hiddenAddresses: Set<String> = []
        /// The addresses whose entries this cache has replaced or removed while it was not the folder's writer; nil for the
        /// writer.
        var removalsAsReader: PendingRemovals? = PendingRemovals()
        /// The number of the last requested change.
        var number: UInt64 = 0
        /// Whether a batch is scheduled, and where.
        var batchSchedule = BatchSchedule.none
        /// The earliest time at which the next batch starts, unless many bytes wait.
        var nextBatchTime = Instant(nanoseconds: 0)
        /// Whether the cache has been released: batches are not delayed any more.
        var isReleased = false
        /// The keys of entries that were used since uses were last logged in the folder.
        var usedKeys: [CacheKey] = []
        /// The locations of evicted entries, until they are logged in the folder.
        var evictedStarts: [EntryLocation.Start] = []
        /// How many entries were not written because too many bytes were waiting.
        var droppedCount = 0
    }

    /// Whether a batch is scheduled, and where.
    enum BatchSchedule: Hashable, Sendable {
        case none
        /// An alarm is set for `nextBatchTime`.
        case alarm
        /// The batch is on the storage queue.
        case queued
    }

    /// When a batch has to start on the storage queue.
    enum BatchStart: Hashable, Sendable {
        case now
        case at(Instant)
    }

    /// The result of a look-up without reading a segment.
    enum LookUpResult: Sendable {
        case entry(CacheEntry)
        case nothing
        case onDisk(CacheIndex.Item)
        /// The folder has not been read yet.
        case unknown
    }

    /// The changes that one batch writes to the folder.
    struct Work: Sendable {
        var mustClear = false
        var changes: [(key: CacheKey, pending: Pending)] = []
        /// The total size of the entries to be written.
        var size = 0
        /// The number of entries to be written.
        var writeCount = 0
        var usedKeys: [CacheKey] = []
        var evictedStarts: [EntryLocation.Start] = []

        var isEmpty: Bool { !mustClear && changes.isEmpty && usedKeys.isEmpty && evictedStarts.isEmpty }
    }
}

extension CacheStore.State {
    /// The largest number of uses that a batch logs; a batch is scheduled when this many wait.
    private static let maxLoggedUses = 512
    /// The time from the end of a batch to the start of the next one. A program that stores one response after the other does not
    /// wake the storage queue for each.
    private static let batchInterval = Interval.milliseconds(50)
    /// The number of waiting bytes from which a batch is not delayed.
    private static let undelayedSize = 512 << 10

    // MARK: looking up

    /// Returns the entry in memory under a key, and makes it the most recently used.
    mutating func useInMemory(_ key: CacheKey) -> CacheEntry? {
        guard let entry = memory.use(key) else { return nil }
        if hasReadFolder { recordUse(key) }
        return entry
    }

    /// Records the use of an entry in the folder.
    mutating func recordUse(_ key: CacheKey) {
        if index.use(key) != nil, usedKeys.count < Self.maxLoggedUses { usedKeys.append(key) }
    }

    /// Looks up a key in the pending changes and in the folder's index.
    func lookUp(_ key: CacheKey) -> CacheStore.LookUpResult {
        if let pending = pending[key] { return pending.entry.map { .entry($0) } ?? .nothing }
        if mustClear || diskCapacity == 0 { return .nothing }
        if hasReadFolder { return index[key].map { .onDisk($0) } ?? .nothing }
        return hiddenAddresses.contains(key.address) ? .nothing : .unknown
    }

    // MARK: changing

    /// Puts an entry into memory if it is not too large; otherwise only removes the existing one.
    mutating func keep(
        _ entry: CacheEntry, for key: CacheKey, _ admission: CacheStore.Admission,
        _ removed: inout CacheStore.RemovedObjects
    ) {
        let fits = entry.size <= admission.limit(memoryCapacity)
        let old = fits ? memory.insert(entry, for: key, cost: entry.size) : memory.remove(key)
        if let old { removed.entries.append(old) }
        evict(&removed)
    }

    /// Puts an entry read from the folder into memory, unless there is a newer one.
    mutating func promote(
        _ entry: CacheEntry, key: CacheKey, from location: EntryLocation,
        _ removed: inout CacheStore.RemovedObjects
    ) {
        guard memory[key] == nil, pending[key] == nil, !mustClear, index[key]?.location == location,
            entry.size <= CacheStore.Admission.loader.limit(memoryCapacity)
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

    /// Whether an entry of this size may be written to the folder. Counts an entry that may not because too many bytes wait.
    mutating func mayWrite(_ size: Int, _ admission: CacheStore.Admission) -> Bool {
        guard size <= admission.limit(diskCapacity) else { return false }
        if size <= admission.waitingLimit(diskCapacity) - pendingSize { return true }
        droppedCount += 1
        return false
    }

    /// Removes the entry under a key from memory and disk.
    mutating func remove(_ key: CacheKey) -> CacheStore.RemovedObjects {
        var removed = CacheStore.RemovedObjects()
        if let old = memory.remove(key) { removed.entries.append(old) }
        if diskCapacity > 0 { change(key, .remove, &removed) }
        return removed
    }

    /// Records a change to an entry of the folder, replacing a pending one.
    mutating func change(
        _ key: CacheKey, _ change: CacheStore.Pending.Change, _ removed: inout CacheStore.RemovedObjects
    ) {
        number += 1
        removalsAsReader?.insert(key.address)
        let new = CacheStore.Pending(change: change, number: number)
        removed.pending = pending.updateValue(new, forKey: key)
        pendingSize += (new.entry?.size ?? 0) - (removed.pending?.entry?.size ?? 0)
        // An entry that is not in the index need not be removed, unless a change that is replaced may be in a running batch.
        if case .remove = change, removed.pending == nil, mustClear || hasReadFolder && index[key] == nil {
            pending[key] = nil
            return
        }
        queue.append((key, number))
    }

    /// Drops all pending changes.
    mutating func forgetPending() {
        pending = [:]
        queue = []
        pendingSize = 0
    }

    /// Makes the next batch empty the folder before later changes.
    mutating func clearFolder() {
        number += 1
        clearCount += 1
        removalsAsReader?.insertAll()
        mustClear = true
        // The folder need not be read any more: its entries count as removed.
        hasReadFolder = true
        index = CacheIndex()
        hiddenAddresses = []
        usedKeys = []
    }

    /// Returns the keys of an address for which an entry may exist.
    func keys(of address: String) -> [CacheKey] {
        let defaultKey = CacheKey(address: address, party: nil)
        let others = memory.partitionedKeys(of: address).union(index.partitionedKeys(of: address))
        return [defaultKey]
            + others.union(pending.keys.filter { !$0.isInDefaultPartition && $0.address == address })
    }

    /// Returns the keys of the entries stored at this time or later.
    func keys(storedSince date: Date) -> Set<CacheKey> {
        var keys = Set(
            memory.keysFromLeastRecent.filter { memory[$0].map { $0.storedTime >= date } ?? false })
        keys.formUnion(index.keysFromLeastRecent.filter { index[$0].map { $0.storedTime >= date } ?? false })
        keys.formUnion(pending.filter { $0.value.entry.map { $0.storedTime >= date } ?? false }.keys)
        return keys
    }

    /// Makes entries of an address count as removed if the folder has not been read yet.
    mutating func hideUnread(_ address: String) {
        if diskCapacity == 0 { return }
        removalsAsReader?.insert(address)
        if !hasReadFolder { hiddenAddresses.insert(address) }
    }

    /// Adopts the index that the folder had when it was first read, by its writer or by a reader. Records the removal of hidden
    /// entries.
    mutating func adopt(_ newIndex: CacheIndex, isWriter: Bool) {
        if hasReadFolder { return }
        hasReadFolder = true
        index = newIndex
        if isWriter { removalsAsReader = nil }
        for address in hiddenAddresses {
            for key in index.partitionedKeys(of: address) where pending[key] == nil {
                var removed = CacheStore.RemovedObjects()
                change(key, .remove, &removed)
            }
        }
        hiddenAddresses = []
    }

    // MARK: batches

    /// Whether there is nothing to write, even if this cache becomes the folder's writer.
    var hasNothingToWrite: Bool {
        queue.isEmpty && !mustClear && usedKeys.isEmpty && evictedStarts.isEmpty
            && removalsAsReader?.isEmpty ?? true
    }

    /// Marks a batch as scheduled, and returns when it has to start; the caller must pass the result to `schedule(_:)`. Returns
    /// nil if there is nothing to do, or a batch is scheduled already.
    mutating func claimBatch() -> CacheStore.BatchStart? {
        // Fewer uses wait for the next batch with changes.
        if queue.isEmpty, !mustClear, usedKeys.count < Self.maxLoggedUses { return nil }
        let mayWait = pendingSize < Self.undelayedSize && !mustClear && !isReleased
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

    /// Handles the alarm of a batch. Returns whether the caller has to queue the batch; false if it was queued before the alarm.
    mutating func alarmFired() -> Bool {
        guard batchSchedule == .alarm else { return false }
        batchSchedule = .queued
        return true
    }

    /// Handles the end of a batch. Returns when the next one has to start.
    mutating func endBatch() -> CacheStore.BatchStart? {
        batchSchedule = .none
        nextBatchTime = MonotonicClock().now() + Self.batchInterval
        return claimBatch()
    }

    /// Removes the next changes from the queue, up to this total size, and returns those that are not obsolete. They stay in
    /// `pending` until they are written.
    mutating func takeWork(upTo size: Int) -> CacheStore.Work {
        // `mustClear` stays set until the folder is empty.
        var work = CacheStore.Work(mustClear: mustClear)
        var count = 0
        for (key, number) in queue {
            if work.size >= size { break }
            count += 1
            guard let pending = pending[key], pending.number == number else { continue }
            if let entry = pending.entry {
                work.size += entry.size
                work.writeCount += 1
            }
            work.changes.append((key, pending))
        }
        queue.removeFirst(count)
        swap(&work.usedKeys, &usedKeys)
        swap(&work.evictedStarts, &evictedStarts)
        return work
    }

    /// Returns the log entries for completed work.
    ///
    /// - Parameters:
    ///   - work: The work of the batch.
    ///   - stored: The item of the written entry of each change; nil for a removal and for an entry that was not written.
    func log(of work: CacheStore.Work, _ stored: [CacheIndex.Item?]) -> [CacheLog.Change] {
        var changes: [CacheLog.Change] = []
        changes.reserveCapacity(work.evictedStarts.count + work.usedKeys.count + work.changes.count)
        for start in work.evictedStarts { changes.append(.removed(start)) }
        for key in work.usedKeys { if let item = index[key] { changes.append(.used(item.location.start)) } }
        for ((key, _), item) in zip(work.changes, stored) {
            if let item {
                changes.append(.stored(key, item))
            } else if let old = index[key] {
                changes.append(.removed(old.location.start))
            }
        }
        return changes
    }

    /// Records completed work. A change stays pending if a later call has replaced it. Returns the changes that are no longer
    /// pending, for release outside of the lock: their requests and responses may contain a program's objects.
    mutating func finish(_ work: CacheStore.Work, _ stored: [CacheIndex.Item?]) -> [CacheStore.Pending] {
        var removed: [CacheStore.Pending] = []
        removed.reserveCapacity(work.changes.count)
        for ((key, done), item) in zip(work.changes, stored) {
            if let position = pending.index(forKey: key), pending.values[position].number == done.number {
                let change = pending.remove(at: position).value
                pendingSize -= change.entry?.size ?? 0
                removed.append(change)
            }
            if let item { index.insert(item, for: key) } else { index.remove(key) }
        }
        return removed
    }

    /// Evicts entries from the folder until it is within its capacity.
    mutating func evictFromFolder() {
        while index.cost > diskCapacity, let item = index.removeLeastRecent() {
            evictedStarts.append(item.location.start)
        }
    }

    /// Removes entries from the index, because they could not be read or are obsolete. The next batch logs their removal.
    mutating func removeFromIndex(_ keys: [CacheKey]) {
        for key in keys {
            if let item = index.remove(key) { evictedStarts.append(item.location.start) }
        }
    }

    /// Replaces the index by one that was read after another process has written to the folder. Entries that this cache has
    /// replaced or removed before that stay removed, and their removal is logged.
    mutating func takeOver(_ newIndex: CacheIndex, isWriter: Bool) {
        let previousIndex = index
        index = newIndex
        for key in newIndex.keysFromLeastRecent where removalsAsReader?.contains(key.address) ?? false {
            if let location = newIndex[key]?.location, previousIndex[key]?.location != location {
                removeFromIndex([key])
            }
        }
        if isWriter { removalsAsReader = nil }
    }
}
