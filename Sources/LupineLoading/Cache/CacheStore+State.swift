// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The state of a store, under its only lock: the entries in memory, the index of the folder, and the pending changes.
///
/// A value that does no disk access. Removed objects are returned, so that they are released outside of the lock: they may
/// contain a program's objects, whose `deinit` can do anything.
extension CacheStore {
    struct State: Sendable {
        var memory = PartyList<CacheKey, CacheEntry>()
        var memoryCapacity: Int
        var diskCapacity: Int
        /// The index of the folder; meaningless before `folderIsKnown`.
        var index = CacheIndex()
        var folderIsKnown = false
        /// The hash that conceals secrets in the folder, once its key has been read.
        var hash: KeyedHash?
        var pending: [CacheKey: Pending] = [:]
        /// The changes in the order of the calls. An element is void if `pending` has another number under its key.
        var queue: [(key: CacheKey, number: UInt64)] = []
        /// The total size of the entries waiting to be written.
        var pendingSize = 0
        /// Whether the folder is still to be emptied; until then its entries count as removed. All pending changes came later.
        var mustClear = false
        /// How often the folder was to be emptied.
        var clearings = 0
        /// Addresses whose entries in the folder, which has not been read yet, are to be removed; until then they count as
        /// removed.
        var hidden: Set<String> = []
        /// The addresses that this cache replaced or removed without being the folder's writer; nil when it is the writer.
        var withdrawals: PendingRemovals? = PendingRemovals()
        /// The number of changes requested so far.
        var number: UInt64 = 0
        /// Whether and when a batch follows.
        var schedule = Schedule.none
        /// The earliest time at which the next batch begins, unless much waits.
        var nextBatch = Instant(nanoseconds: 0)
        /// Whether the cache has been released: nothing is put off any more.
        var isReleased = false
        /// The keys used since uses were last logged in the folder.
        var used: [CacheKey] = []
        /// The places of evicted entries, until they are logged in the folder.
        var evicted: [EntryLocation.Start] = []
        /// How many entries were not written because too many bytes were already waiting.
        var droppedCount = 0
    }

    /// Whether and when a batch follows.
    enum Schedule: Hashable, Sendable {
        case none
        /// An alarm is set for `nextBatch`.
        case later
        /// The batch is on the storage queue.
        case queued
    }

    /// The beginning of a batch, which the caller of `beginTurn()` has to arrange.
    enum Beginning: Hashable, Sendable {
        /// On the storage queue.
        case now
        /// On the storage queue, after this time.
        case at(Instant)
    }

    /// The result of a look-up that does not read a segment.
    enum Known: Sendable {
        case entry(CacheEntry)
        case nothing
        case onDisk(CacheIndex.Item)
        /// The folder has not been read yet.
        case unknown
    }

    /// The work of the next batch.
    struct Work: Sendable {
        var mustClear = false
        var changes: [(key: CacheKey, pending: Pending)] = []
        /// The total size of the entries to be written.
        var size = 0
        /// The number of entries to be written.
        var writes = 0
        var used: [CacheKey] = []
        var evicted: [EntryLocation.Start] = []

        var isEmpty: Bool { !mustClear && changes.isEmpty && used.isEmpty && evicted.isEmpty }
    }
}

extension CacheStore.State {
    /// The largest number of uses that are logged; when as many have gathered, a batch is scheduled.
    private static let mostUses = 512
    /// The time between the beginnings of two batches. A program that stores one response after the other does not wake the
    /// storage queue for each.
    private static let batchInterval = Interval.milliseconds(50)
    /// The number of waiting bytes from which a batch begins at once.
    private static let muchSize = 512 << 10

    // MARK: looking up

    /// Returns the entry in memory under a key, and makes it the most recently used.
    mutating func used(_ key: CacheKey) -> CacheEntry? {
        guard let entry = memory.use(key) else { return nil }
        if folderIsKnown { noteUse(key) }
        return entry
    }

    /// Records the use of an entry in the folder.
    mutating func noteUse(_ key: CacheKey) {
        if index.use(key) != nil, used.count < Self.mostUses { used.append(key) }
    }

    /// Returns what is known about a key without reading a segment.
    func known(_ key: CacheKey) -> CacheStore.Known {
        if let pending = pending[key] { return pending.entry.map { .entry($0) } ?? .nothing }
        if mustClear || diskCapacity == 0 { return .nothing }
        if folderIsKnown { return index[key].map { .onDisk($0) } ?? .nothing }
        return hidden.contains(key.address) ? .nothing : .unknown
    }

    // MARK: changing

    /// Puts an entry into memory, replacing an existing one, if it is not too large.
    mutating func keep(
        _ entry: CacheEntry, for key: CacheKey, _ admission: CacheStore.Admission,
        _ gone: inout CacheStore.RemovedObjects
    ) {
        let isTaken = entry.size <= admission.limit(memoryCapacity)
        let old = isTaken ? memory.insert(entry, for: key, cost: entry.size) : memory.remove(key)
        if let old { gone.entries.append(old) }
        evict(&gone)
    }

    /// Puts an entry read from the folder into memory, unless a newer one is there or pending.
    mutating func promote(
        _ entry: CacheEntry, key: CacheKey, from place: EntryLocation, _ gone: inout CacheStore.RemovedObjects
    ) {
        guard memory[key] == nil, pending[key] == nil, !mustClear, index[key]?.place == place,
            entry.size <= CacheStore.Admission.loader.limit(memoryCapacity)
        else { return }
        memory.insert(entry, for: key, cost: entry.size)
        evict(&gone)
    }

    /// Evicts entries from memory until it is within its capacity.
    mutating func evict(_ gone: inout CacheStore.RemovedObjects) {
        while memory.cost > memoryCapacity, let (_, entry) = memory.removeLeastRecent() {
            gone.entries.append(entry)
        }
    }

    /// Whether an entry of this size is written. Counts an entry that is refused because too many bytes are already waiting.
    mutating func takes(_ size: Int, _ admission: CacheStore.Admission) -> Bool {
        guard size <= admission.limit(diskCapacity) else { return false }
        if size <= admission.waitingLimit(diskCapacity) - pendingSize { return true }
        droppedCount += 1
        return false
    }

    /// Removes the entry under a key from memory and disk.
    mutating func remove(_ key: CacheKey) -> CacheStore.RemovedObjects {
        var gone = CacheStore.RemovedObjects()
        if let old = memory.remove(key) { gone.entries.append(old) }
        if diskCapacity > 0 { change(key, .remove, &gone) }
        return gone
    }

    /// Records a change to an entry of the folder, replacing a pending one.
    mutating func change(
        _ key: CacheKey, _ change: CacheStore.Pending.Change, _ gone: inout CacheStore.RemovedObjects
    ) {
        number += 1
        withdrawals?.insert(key.address)
        let new = CacheStore.Pending(change: change, number: number)
        gone.pending = pending.updateValue(new, forKey: key)
        pendingSize += (new.entry?.size ?? 0) - (gone.pending?.entry?.size ?? 0)
        // Nothing needs removing if the index has no such entry, but a replaced change may already be on its way to the disk.
        if case .remove = change, gone.pending == nil, mustClear || folderIsKnown && index[key] == nil {
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

    /// Schedules that the folder is emptied before all later changes.
    mutating func clearFolder() {
        number += 1
        clearings += 1
        withdrawals?.insertAll()
        mustClear = true
        folderIsKnown = true
        index = CacheIndex()
        hidden = []
        used = []
    }

    /// Returns all known keys of an address.
    func keys(of address: String) -> [CacheKey] {
        let plain = CacheKey(address: address, party: nil)
        let others = memory.others(of: address).union(index.others(of: address))
        return [plain]
            + others.union(pending.keys.filter { !$0.isPlain && $0.address == address })
    }

    /// Returns the keys of the entries stored at this time or later.
    func keys(storedSince date: Date) -> Set<CacheKey> {
        var keys = Set(
            memory.keysFromLeastRecent.filter { memory[$0].map { $0.storedTime >= date } ?? false })
        keys.formUnion(index.keysFromLeastRecent.filter { index[$0].map { $0.storedTime >= date } ?? false })
        keys.formUnion(pending.filter { $0.value.entry.map { $0.storedTime >= date } ?? false }.keys)
        return keys
    }

    /// Hides the entries of an address that the folder may have but that have not been read yet.
    mutating func hideUnknown(_ address: String) {
        if diskCapacity == 0 { return }
        withdrawals?.insert(address)
        if !folderIsKnown { hidden.insert(address) }
    }

    /// Takes over the index that was found when the folder was first read, as its writer or as a reader. Hidden entries are
    /// scheduled for removal.
    mutating func learn(_ found: CacheIndex, isWriter: Bool) {
        if folderIsKnown { return }
        folderIsKnown = true
        index = found
        if isWriter { withdrawals = nil }
        for address in hidden {
            for key in index.others(of: address) where pending[key] == nil {
                var gone = CacheStore.RemovedObjects()
                change(key, .remove, &gone)
            }
        }
        hidden = []
    }

    // MARK: turns

    /// Whether nothing is to be done, not even by the folder's next writer.
    var isIdle: Bool {
        queue.isEmpty && !mustClear && used.isEmpty && evicted.isEmpty && withdrawals?.isEmpty ?? true
    }

    /// Returns when a batch has to begin; nil if there is nothing to do, or a batch is scheduled already.
    mutating func beginTurn() -> CacheStore.Beginning? {
        if queue.isEmpty && !mustClear && used.count < Self.mostUses { return nil }
        let mayWait = pendingSize < Self.muchSize && !isReleased
        switch schedule {
        case .queued: return nil
        case .later where mayWait: return nil
        case .none where mayWait && MonotonicClock().now() < nextBatch:
            schedule = .later
            return .at(nextBatch)
        case .none, .later:
            schedule = .queued
            return .now
        }
    }

    /// The alarm of a batch has gone off. Returns whether the batch has to be queued: it may have been queued before.
    mutating func alarmRang() -> Bool {
        guard schedule == .later else { return false }
        schedule = .queued
        return true
    }

    /// A batch has been written. Returns when the next one has to begin.
    mutating func endTurn() -> CacheStore.Beginning? {
        schedule = .none
        nextBatch = MonotonicClock().now() + Self.batchInterval
        return beginTurn()
    }

    /// Returns the next changes, up to this total size, without void ones.
    mutating func takeWork(upTo size: Int) -> CacheStore.Work {
        var work = CacheStore.Work(mustClear: mustClear)
        var count = 0
        for (key, number) in queue {
            if work.size >= size { break }
            count += 1
            guard let pending = pending[key], pending.number == number else { continue }
            if let entry = pending.entry {
                work.size += entry.size
                work.writes += 1
            }
            work.changes.append((key, pending))
        }
        queue.removeFirst(count)
        swap(&work.used, &used)
        swap(&work.evicted, &evicted)
        return work
    }

    /// Returns the log entries for completed work.
    ///
    /// - Parameter stored: The items of the written entries, one for each change; nil for a change without one.
    func log(of work: CacheStore.Work, _ stored: [CacheIndex.Item?]) -> [CacheLog.Change] {
        var changes: [CacheLog.Change] = []
        changes.reserveCapacity(work.evicted.count + work.used.count + work.changes.count)
        for start in work.evicted { changes.append(.removed(start)) }
        for key in work.used { if let item = index[key] { changes.append(.used(item.place.start)) } }
        for ((key, _), item) in zip(work.changes, stored) {
            if let item {
                changes.append(.stored(key, item))
            } else if let old = index[key] {
                changes.append(.removed(old.place.start))
            }
        }
        return changes
    }

    /// Records completed work. Returns the changes that no longer wait, to be released outside of the lock: their requests and
    /// responses may contain a program's objects.
    mutating func finish(_ work: CacheStore.Work, _ stored: [CacheIndex.Item?]) -> [CacheStore.Pending] {
        var gone: [CacheStore.Pending] = []
        gone.reserveCapacity(work.changes.count)
        for ((key, done), item) in zip(work.changes, stored) {
            if let place = pending.index(forKey: key), pending.values[place].number == done.number {
                let taken = pending.remove(at: place).value
                pendingSize -= taken.entry?.size ?? 0
                gone.append(taken)
            }
            if let item { index.insert(item, for: key) } else { index.remove(key) }
        }
        return gone
    }

    /// Evicts entries from the folder until it is within its capacity.
    mutating func evictFiles() {
        while index.cost > diskCapacity, let item = index.removeLeastRecent() {
            evicted.append(item.place.start)
        }
    }

    /// Removes entries that can no longer be read.
    mutating func lose(_ keys: [CacheKey]) {
        for key in keys {
            if let item = index.remove(key) { evicted.append(item.place.start) }
        }
    }

    /// Takes over the index that was found after another process had written to the folder. Entries that this cache replaced or
    /// removed in the meantime stay removed: the writer logs their removal.
    mutating func takeOver(_ found: CacheIndex, isWriter: Bool) {
        let former = index
        index = found
        for key in found.keysFromLeastRecent where withdrawals?.contains(key.address) ?? false {
            if let place = found[key]?.place, former[key]?.place != place { lose([key]) }
        }
        if isWriter { withdrawals = nil }
    }
}
