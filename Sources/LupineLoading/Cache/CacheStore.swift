// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The entries of a `URLCache`: in memory, and in a folder that outlives the process. Any thread may use it.
///
/// The entries in memory, the pending changes and the folder's index are protected by one lock; a call changes them and returns.
/// The folder is written later, on the storage queue, in batches and in the order of the calls; until a change is on disk,
/// look-ups return the state that it will leave. The waiting bytes are bounded: beyond the limit, responses stored by the loader
/// stay in memory only. So the effect of a call is visible when it returns. Only the calls `response(for:)`, `remove(since:)` and
/// `diskUsage`, and look-ups answered from disk, wait for the disk. The folder's index is read once, when it is first needed.
///
/// This type handles sizes and recency. `CacheRule` and `CacheDecision` decide what may be stored and used, `CacheAdmission` who
/// may receive it.
final class CacheStore: Sendable {
    /// How large an entry may be, and whether it may wait for a slow disk.
    enum Admission: Sendable {
        /// A response stored by the loader: up to a twentieth of the capacity, so that one response does not evict all others.
        case loader
        /// A response stored by the program: up to the whole capacity.
        case program

        func limit(_ capacity: Int) -> Int {
            switch self {
            case .loader: capacity / 20
            case .program: capacity
            }
        }

        /// Returns how many bytes may wait to be written to a folder of this capacity. The limit keeps memory from filling up
        /// when the disk is too slow.
        func waitingLimit(_ capacity: Int) -> Int {
            switch self {
            case .loader: min(capacity, CacheStore.mostWaitingBytes)
            case .program: capacity
            }
        }
    }

    /// A pending change to an entry of the folder.
    struct Pending: Sendable {
        enum Change: Sendable {
            /// The request's head is needed to replace the secrets in it by their hashes with the persistent key; it is dropped
            /// when the entry is written.
            case write(CacheEntry, URLRequest, Admission)
            case remove
        }
        var change: Change
        /// The number of the call that requested the change; a later call for the same cache key supersedes it.
        var number: UInt64

        var entry: CacheEntry? {
            switch change {
            case .write(let entry, _, _): entry
            case .remove: nil
            }
        }
    }

    /// Objects removed by a change. They are released after the lock is left, because they may contain a program's objects, whose
    /// `deinit` can do anything.
    struct RemovedObjects: Sendable {
        var entries = SmallArray<CacheEntry>()
        var pending: Pending?
    }

    /// How many bytes of the loader's responses may wait to be written.
    static let mostWaitingBytes = 4 << 20

    let state: Lock<State>
    /// The terms of the entries in the folder, shared because most are equal.
    let terms = Lock(CacheTermsPool())
    let folder: CacheFolder

    init(memoryCapacity: Int, diskCapacity: Int, folder: CacheFolder) {
        self.folder = folder
        state = Lock(
            State(memoryCapacity: max(0, memoryCapacity), diskCapacity: max(0, diskCapacity)))
    }

    // MARK: capacities

    /// How many bytes may be in memory; the excess is evicted at once.
    var memoryCapacity: Int {
        get { state.withLock { $0.memoryCapacity } }
        set {
            _ = state.withLock { state in
                state.memoryCapacity = max(0, newValue)
                var gone = RemovedObjects()
                state.evict(&gone)
                return gone
            }
        }
    }

    /// How many bytes may be in the folder; the excess is evicted soon. While it is zero, the folder is left as it is; lowering
    /// it to zero evicts all entries.
    var diskCapacity: Int {
        get { state.withLock { $0.diskCapacity } }
        set {
            let isLess = state.withLock { state in
                defer { state.diskCapacity = max(0, newValue) }
                return newValue < state.diskCapacity
            }
            if isLess { StorageQueue.run { self.evictFiles() } }
        }
    }

    /// The number of bytes in memory.
    var memoryUsage: Int { state.withLock { $0.memory.cost } }

    /// The number of bytes in the folder. The first call may wait for the disk.
    var diskUsage: Int {
        if diskCapacity == 0 { return 0 }
        learnFolder()
        return state.withLock { $0.index.cost }
    }

    /// How many of the loader's entries were not written because too many bytes were already waiting.
    var droppedCount: Int { state.withLock { $0.droppedCount } }

    // MARK: storing

    /// Stores an entry under the address of a request, replacing the entry of the same partition.
    func store(_ entry: CacheEntry, address: String, request: URLRequest, admission: Admission) {
        let policy = entry.response.storagePolicy
        guard policy != .notAllowed else { return }
        let key = CacheKey(address: address, party: entry.provenance.party)
        let isForDisk =
            policy == .allowed && entry.provenance.mayBeWritten
            && !CacheRule.forbidsStoring(entry.httpResponse, for: request)
        let head = isForDisk ? request.head : request
        let (next, _) = state.withLock { state -> (Beginning?, RemovedObjects) in
            var gone = RemovedObjects()
            state.keep(entry, for: key, admission, &gone)
            guard state.diskCapacity > 0 else { return (nil, gone) }
            let isTaken = isForDisk && state.takes(entry.size, admission)
            state.change(key, isTaken ? .write(entry, head, admission) : .remove, &gone)
            return (state.beginTurn(), gone)
        }
        begin(next)
    }

    /// Removes all entries of an address, for all users.
    func remove(_ address: String) {
        let (next, _) = state.withLock { state in
            var gone: [RemovedObjects] = []
            for key in state.keys(of: address) { gone.append(state.remove(key)) }
            state.hideUnknown(address)
            return (state.beginTurn(), gone)
        }
        begin(next)
    }

    /// Removes the entry of an address in one partition.
    func remove(_ address: String, party: CacheParty?) {
        let (next, _) = state.withLock { state in
            let gone = state.remove(CacheKey(address: address, party: party))
            return (state.beginTurn(), gone)
        }
        begin(next)
    }

    /// Removes all entries.
    func removeAll() {
        let (next, _, _) = state.withLock { state in
            let gone = (state.memory, state.pending)
            state.memory.removeAll()
            state.forgetPending()
            if state.diskCapacity > 0 { state.clearFolder() }
            return (state.beginTurn(), gone.0, gone.1)
        }
        begin(next)
    }

    /// Removes the entries stored at this time or later. The first call may wait for the disk.
    func remove(since date: Date) {
        if diskCapacity > 0 { learnFolder() }
        let (next, _) = state.withLock { state in
            var gone: [RemovedObjects] = []
            for key in state.keys(storedSince: date) { gone.append(state.remove(key)) }
            // Entries that another cache has stored in the folder since then are not known here.
            if state.diskCapacity > 0 { state.withdrawals?.insertAll() }
            return (state.beginTurn(), gone)
        }
        begin(next)
    }

    /// Calls `done` on the storage queue when all changes requested before are on disk.
    func flush(_ done: @escaping @Sendable () -> Void) {
        let number = state.withLock { $0.number }
        StorageQueue.run {
            self.writeOut(upTo: number)
            done()
        }
    }
}
