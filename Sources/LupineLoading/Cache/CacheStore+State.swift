// SPDX-License-Identifier: MIT

internal import Foundation

/// What a store knows, under its one lock: what is in memory, what the folder holds, what is still to be done about it.
///
/// A value. Nothing here touches a disk, and whatever is thrown out is given back, to be let go of outside of the lock: a
/// program's own values may be in it, which do what they like when they end.
extension CacheStore {
    struct State: Sendable {
        var memory = PartyList<CacheKey, CacheEntry>()
        var memoryCapacity: Int
        var diskCapacity: Int
        /// The folder's entries. Nothing is said by it before `folderIsKnown`.
        var index = CacheIndex()
        var folderIsKnown = false
        /// The hash of what is in the folder, once its key has been read.
        var hash: KeyedHash?
        var pending: [CacheKey: Pending] = [:]
        /// The changes in the order of the calls; some have been made void by later ones.
        var queue: [(key: CacheKey, number: UInt64)] = []
        /// What the entries that are to be written count for.
        var pendingSize = 0
        /// Whether the folder is still to be emptied: until then what is in it counts for nothing. What waits came later.
        var mustClear = false
        /// How often it was to be emptied.
        var clearings = 0
        /// The addresses whose entries are still to be searched for and removed: until then what is in the folder counts for
        /// nothing.
        var hidden: Set<String> = []
        /// What this cache has taken away without being the folder's writer; nil when it is.
        var withdrawals: CacheWithdrawals? = CacheWithdrawals()
        /// How many changes were asked for.
        var number: UInt64 = 0
        /// Whether somebody is on the way to do what waits.
        var hasTurn = false
        /// What was used since that was last noted in the folder.
        var used: [CacheKey] = []
        /// Where entries stood that had to go, until that is noted in the folder.
        var evicted: [CachePlace.Start] = []
        /// How many entries were not written because too much waited already.
        var droppedCount = 0
    }

    /// What is known about an entry without looking into a segment.
    enum Known: Sendable {
        case entry(CacheEntry)
        case nothing
        case onDisk(CacheIndex.Item)
        /// The folder has not been looked into.
        case unknown
    }

    /// What is to be done next.
    struct Work: Sendable {
        var mustClear = false
        var changes: [(key: CacheKey, pending: Pending)] = []
        /// What the entries that are to be written count for.
        var size = 0
        /// How many they are.
        var writes = 0
        var used: [CacheKey] = []
        var evicted: [CachePlace.Start] = []

        var isEmpty: Bool { !mustClear && changes.isEmpty && used.isEmpty && evicted.isEmpty }
    }
}

extension CacheStore.State {
    /// More uses than these are not noted one by one; as many are worth a write.
    private static let mostUses = 512

    // MARK: looking up

    /// The entry in memory under a key, which is now the one used last.
    mutating func used(_ key: CacheKey) -> CacheEntry? {
        guard let entry = memory.use(key) else { return nil }
        if folderIsKnown { noteUse(key) }
        return entry
    }

    /// Notes that an entry of the folder was used.
    mutating func noteUse(_ key: CacheKey) {
        if index.use(key) != nil, used.count < Self.mostUses { used.append(key) }
    }

    /// What there is under a key without looking into a segment.
    func known(_ key: CacheKey) -> CacheStore.Known {
        if let pending = pending[key] { return pending.entry.map { .entry($0) } ?? .nothing }
        if mustClear || diskCapacity == 0 { return .nothing }
        if folderIsKnown { return index[key].map { .onDisk($0) } ?? .nothing }
        return hidden.contains(key.address) ? .nothing : .unknown
    }

    // MARK: changing

    /// Puts an entry into memory in place of what was there, if it may be so large.
    mutating func keep(
        _ entry: CacheEntry, for key: CacheKey, _ admission: CacheStore.Admission,
        _ gone: inout CacheStore.Gone
    ) {
        let isTaken = entry.size <= admission.limit(memoryCapacity)
        let old = isTaken ? memory.insert(entry, for: key, cost: entry.size) : memory.remove(key)
        if let old { gone.entries.append(old) }
        evict(&gone)
    }

    /// Puts what was read from the folder into memory, unless something newer is there or on its way.
    mutating func promote(
        _ entry: CacheEntry, key: CacheKey, from place: CachePlace, _ gone: inout CacheStore.Gone
    ) {
        guard memory[key] == nil, pending[key] == nil, !mustClear, index[key]?.place == place,
            entry.size <= CacheStore.Admission.loader.limit(memoryCapacity)
        else { return }
        memory.insert(entry, for: key, cost: entry.size)
        evict(&gone)
    }

    /// Takes out of memory what is over its capacity.
    mutating func evict(_ gone: inout CacheStore.Gone) {
        while memory.cost > memoryCapacity, let (_, entry) = memory.removeLeastRecent() {
            gone.entries.append(entry)
        }
    }

    /// Whether an entry of that size is written. One of the loader's that would have to wait too long is counted.
    mutating func takes(_ size: Int, _ admission: CacheStore.Admission) -> Bool {
        guard size <= admission.limit(diskCapacity) else { return false }
        if size <= admission.waitingLimit(diskCapacity) - pendingSize { return true }
        droppedCount += 1
        return false
    }

    /// Removes what is under a key from both tiers.
    mutating func remove(_ key: CacheKey) -> CacheStore.Gone {
        var gone = CacheStore.Gone()
        if let old = memory.remove(key) { gone.entries.append(old) }
        if diskCapacity > 0 { change(key, .remove, &gone) }
        return gone
    }

    /// Notes what is to be done about an entry of the folder, in place of what was to be done.
    mutating func change(
        _ key: CacheKey, _ change: CacheStore.Pending.Change, _ gone: inout CacheStore.Gone
    ) {
        number += 1
        withdrawals?.insert(key.address)
        let new = CacheStore.Pending(change: change, number: number)
        gone.pending = pending.updateValue(new, forKey: key)
        pendingSize += (new.entry?.size ?? 0) - (gone.pending?.entry?.size ?? 0)
        // What was to be written may be on its way to the disk already; else what is known is all.
        if case .remove = change, gone.pending == nil, mustClear || folderIsKnown && index[key] == nil {
            pending[key] = nil
            return
        }
        queue.append((key, number))
    }

    /// Nothing is to be done any more.
    mutating func forgetPending() {
        pending = [:]
        queue = []
        pendingSize = 0
    }

    /// The folder is to be emptied before what is asked for from now on.
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

    /// All keys of an address that are known.
    func keys(of address: String) -> [CacheKey] {
        let plain = CacheKey(address: address, party: nil)
        let others = memory.others(of: address).union(index.others(of: address))
        return [plain]
            + others.union(pending.keys.filter { !$0.isPlain && $0.address == address })
    }

    /// The keys of what was stored at that time or later.
    func keys(storedSince date: Date) -> Set<CacheKey> {
        var keys = Set(
            memory.keysFromLeastRecent.filter { memory[$0].map { $0.storedTime >= date } ?? false })
        keys.formUnion(index.keysFromLeastRecent.filter { index[$0].map { $0.storedTime >= date } ?? false })
        keys.formUnion(pending.filter { $0.value.entry.map { $0.storedTime >= date } ?? false }.keys)
        return keys
    }

    /// The folder may have entries of the address that nobody knows of yet: they count for nothing from here on.
    mutating func hideUnknown(_ address: String) {
        if diskCapacity == 0 { return }
        withdrawals?.insert(address)
        if !folderIsKnown { hidden.insert(address) }
    }

    /// Takes over what was found in the folder when it was first looked into, as its writer or not. What was to be searched for
    /// and removed is to be removed.
    mutating func learn(_ found: CacheIndex, isWriter: Bool) {
        if folderIsKnown { return }
        folderIsKnown = true
        index = found
        if isWriter { withdrawals = nil }
        for address in hidden {
            for key in index.others(of: address) where pending[key] == nil {
                var gone = CacheStore.Gone()
                change(key, .remove, &gone)
            }
        }
        hidden = []
    }

    // MARK: turns

    /// Whether there is nothing to be done, not even what only the folder's next writer can do.
    var isIdle: Bool {
        queue.isEmpty && !mustClear && used.isEmpty && evicted.isEmpty && withdrawals?.isEmpty ?? true
    }

    /// Whether somebody has to be sent to do what waits.
    mutating func beginTurn() -> Bool {
        if hasTurn || queue.isEmpty && !mustClear && used.count < Self.mostUses { return false }
        hasTurn = true
        return true
    }

    /// What is to be done now, up to so many octets; what is void is left out.
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

    /// What a log has to say of what was done.
    ///
    /// - Parameter stored: Where the entries of the work are now, one for each change; nil where there is none.
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

    /// Notes what was done. Gives back what does not wait any more: the request of what was to be written is the program's, as
    /// the response is.
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

    /// Takes entries out of the folder that are over its capacity.
    mutating func evictFiles() {
        while index.cost > diskCapacity, let item = index.removeLeastRecent() {
            evicted.append(item.place.start)
        }
    }

    /// Forgets entries that cannot be read any more.
    mutating func lose(_ keys: [CacheKey]) {
        for key in keys {
            if let item = index.remove(key) { evicted.append(item.place.start) }
        }
    }

    /// Takes over what was found in the folder when another one had written to it for a while. What was taken away here in the
    /// meantime stays away: the writer removes it.
    mutating func takeOver(_ found: CacheIndex, isWriter: Bool) {
        let former = index
        index = found
        for key in found.keysFromLeastRecent where withdrawals?.contains(key.address) ?? false {
            if let place = found[key]?.place, former[key]?.place != place { lose([key]) }
        }
        if isWriter { withdrawals = nil }
    }
}
