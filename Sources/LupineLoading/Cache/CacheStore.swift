// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport
internal import Synchronization

/// The entries of a `URLCache`, in memory and in a folder that outlives the process. Any thread may use it.
///
/// A call changes the entries in memory, the pending changes and the folder's index, which one lock protects, and returns. The
/// storage queue writes the changes to the folder later, in batches and in the order of the calls. Look-ups take pending changes
/// into account, so the effect of a call is visible when it returns. The number of bytes that wait to be written is limited:
/// beyond the limit, responses stored by the loader stay in memory only. Only `response(for:)`, `remove(since:)`, `diskUsage`,
/// and look-ups that are answered from disk, wait for the disk. The folder's index is read once, when it is first needed.
///
/// An entry has an address, which is its URL without the fragment, and a partition (`CachePartition`). This type limits the sizes
/// of entries and evicts those that were not used for the longest time. `CacheRule` decides which responses may be stored,
/// `CacheDecision` whether a stored one is used, and `CacheAdmission` who may receive it.
final class CacheStore: Sendable {
    /// The limits for the sizes of entries, which depend on who stores the entry.
    enum SizeLimits: Sendable {
        /// The loader: an entry takes up to a twentieth of the capacity, so that one response does not evict all others.
        case loader
        /// The program: an entry takes up to the whole capacity.
        case program

        /// Returns the largest size of an entry, in bytes, in memory or a folder of this capacity.
        func maxEntrySize(_ capacity: Int) -> Int {
            switch self {
            case .loader: capacity / 20
            case .program: capacity
            }
        }

        /// Returns how many bytes may wait to be written to a folder of this capacity, which bounds the memory that they take
        /// while the disk is slow.
        func maxWaitingSize(_ capacity: Int) -> Int {
            switch self {
            case .loader: min(capacity, CacheStore.maxWaitingBytes)
            case .program: capacity
            }
        }
    }

    /// A pending change to an entry of the folder.
    struct PendingChange: Sendable {
        enum Action: Sendable {
            case write(CacheEntry, SizeLimits)
            case remove
        }
        var action: Action
        /// The number of the change in the order of the calls. A later change to the same entry replaces this one.
        var number: UInt64

        /// The entry to write; nil for a removal.
        var entry: CacheEntry? {
            switch action {
            case .write(let entry, _): entry
            case .remove: nil
            }
        }
    }

    /// Objects that a change of the state has removed. They are released outside of the lock, because they may contain a
    /// program's objects, whose `deinit` can run any code.
    struct RemovedObjects: Sendable {
        var entries = SmallArray<CacheEntry>()
        /// The pending change that a new one has replaced.
        var pendingChange: PendingChange?
    }

    /// How many bytes of the loader's responses may wait to be written: 4 MiB.
    static let maxWaitingBytes = 4 << 20

    let state: Lock<State>
    /// The terms of the entries in the folder, shared because most are equal.
    let terms = Lock(CacheTermsPool())
    let folder: CacheFolder
    /// The capacities, which change together with those in `state`. They are read without its lock, because event loops read them
    /// for each response.
    private let readableMemoryCapacity: Atomic<Int>
    private let readableDiskCapacity: Atomic<Int>

    init(memoryCapacity: Int, diskCapacity: Int, folder: CacheFolder) {
        self.folder = folder
        readableMemoryCapacity = Atomic(max(0, memoryCapacity))
        readableDiskCapacity = Atomic(max(0, diskCapacity))
        state = Lock(
            State(memoryCapacity: max(0, memoryCapacity), diskCapacity: max(0, diskCapacity)))
    }

    // MARK: capacities

    /// How many bytes may be in memory. Setting a lower capacity evicts the excess at once.
    var memoryCapacity: Int {
        get { readableMemoryCapacity.load(ordering: .acquiring) }
        set {
            // The evicted entries are returned to be released outside of the lock.
            _ = state.withLock { state in
                state.memoryCapacity = max(0, newValue)
                readableMemoryCapacity.store(state.memoryCapacity, ordering: .releasing)
                var removed = RemovedObjects()
                state.evict(&removed)
                return removed
            }
        }
    }

    /// How many bytes may be in the folder. Setting a lower capacity evicts the excess soon, on the storage queue; with zero it
    /// evicts all entries. While the capacity is zero, no entry is written or read.
    var diskCapacity: Int {
        get { readableDiskCapacity.load(ordering: .acquiring) }
        set {
            let isLowered = state.withLock { state in
                let oldValue = state.diskCapacity
                state.diskCapacity = max(0, newValue)
                readableDiskCapacity.store(state.diskCapacity, ordering: .releasing)
                return newValue < oldValue
            }
            if isLowered { StorageQueue.run { self.evictFromFolder() } }
        }
    }

    /// The number of bytes in memory.
    var memoryUsage: Int { state.withLock { $0.memory.cost } }

    /// The number of bytes in the folder. The first call may wait for the disk.
    var diskUsage: Int {
        if diskCapacity == 0 { return 0 }
        readFolderIndex()
        return state.withLock { $0.index.cost }
    }

    /// For tests: how many of the loader's entries were not written because too many bytes were waiting.
    var droppedCount: Int { state.withLock { $0.droppedCount } }

    // MARK: storing

    /// Stores an entry under the address of a request. Replaces the entry with the same address and partition. `defaultKey` is
    /// the key of the address in the default partition.
    func store(_ entry: CacheEntry, _ defaultKey: CacheKey, request: URLRequest, limits: SizeLimits) {
        let policy = entry.response.storagePolicy
        guard policy != .notAllowed else { return }
        let key = defaultKey.key(in: entry.provenance.partition)
        let isForDisk =
            policy == .allowed && entry.provenance.mayBeWritten
            && !CacheRule.forbidsStoring(entry.httpResponse, for: request)
        // Here and below, `claimBatch` returns when a batch has to start; nil if none has to. The second value is returned to be
        // released outside of the lock (`RemovedObjects`).
        let (batchStart, _) = state.withLock { state -> (BatchStart?, RemovedObjects) in
            var removed = RemovedObjects()
            state.insertIntoMemory(entry, for: key, limits, &removed)
            guard state.diskCapacity > 0 else { return (nil, removed) }
            // An entry that is not written still removes the previous entry from the folder. `mayWrite` also counts the entries
            // that are refused because too many bytes are waiting.
            let isWritten = isForDisk && state.mayWrite(entry.size, limits)
            state.addChange(to: key, isWritten ? .write(entry, limits) : .remove, &removed)
            return (state.claimBatch(), removed)
        }
        schedule(batchStart)
    }

    /// Removes the entries of an address in all partitions.
    func remove(_ address: String) {
        let (batchStart, _) = state.withLock { state in
            var removed: [RemovedObjects] = []
            for key in state.keys(of: address) { removed.append(state.remove(key)) }
            // If the folder was not read yet, its entries have no keys here, but count as removed too.
            state.hideUnreadEntries(of: address)
            return (state.claimBatch(), removed)
        }
        schedule(batchStart)
    }

    /// Removes the entry under a key.
    func remove(_ key: CacheKey) {
        let (batchStart, _) = state.withLock { state in
            let removed = state.remove(key)
            return (state.claimBatch(), removed)
        }
        schedule(batchStart)
    }

    /// Removes all entries.
    func removeAll() {
        let (batchStart, _, _) = state.withLock { state in
            // Copies of the entries and the changes, so that their objects are released outside of the lock.
            let (memory, pendingChanges) = (state.memory, state.pendingChanges)
            state.memory.removeAll()
            state.dropPendingChanges()
            if state.diskCapacity > 0 { state.clearFolder() }
            return (state.claimBatch(), memory, pendingChanges)
        }
        schedule(batchStart)
    }

    /// Removes the entries stored at this time or later. The first call may wait for the disk.
    func remove(since date: Date) {
        if diskCapacity > 0 { readFolderIndex() }
        let (batchStart, _) = state.withLock { state in
            var removed: [RemovedObjects] = []
            for key in state.keys(storedSince: date) { removed.append(state.remove(key)) }
            // Another process may have stored entries in the folder that are not in this index. They are removed when this
            // process becomes the writer.
            if state.diskCapacity > 0 { state.removalsAsReader?.insertAll() }
            return (state.claimBatch(), removed)
        }
        schedule(batchStart)
    }

    /// Calls `completion` on the storage queue when all changes that were requested before this call are on disk.
    func flush(_ completion: @escaping @Sendable () -> Void) {
        let number = state.withLock { $0.lastChangeNumber }
        StorageQueue.run {
            self.writeChanges(upTo: number)
            completion()
        }
    }
}
