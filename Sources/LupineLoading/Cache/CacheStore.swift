// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// What a `URLCache` keeps: entries in memory, and under a folder those that outlive the process. Any thread may use it.
///
/// What is in memory, what is to be written and what the folder holds stand under one lock; a call changes them and returns.
/// The folder is written behind, on the storage queue, a batch at a time in the order of the calls; until a change is on the
/// disk, look-ups are answered by what it will leave there. What waits has an upper bound: beyond it, what the loader stores
/// stays in memory alone. So a call's effect is visible when the call returns, and nobody waits for a disk but who asks for it
/// (`response(for:)`, `remove(since:)`, `diskUsage`), and a look-up that is going to be answered from there. The index of the
/// folder is read once, when it is first needed.
///
/// This type knows sizes and recency. What may be stored and used is decided by `CacheRule` and `CacheDecision`; who may
/// have it, by `CacheAdmission`.
final class CacheStore: Sendable {
    /// How large an entry may be, and whether it waits for a slow disk.
    enum Admission: Sendable {
        /// What the loader stores: up to a twentieth of a tier, so that one response does not drive out the others.
        case loader
        /// What a program stores itself: up to all of it.
        case program

        func limit(_ capacity: Int) -> Int {
            switch self {
            case .loader: capacity / 20
            case .program: capacity
            }
        }

        /// How much may wait to be written when another entry comes, for a folder of that capacity: a disk that does not keep up
        /// must not make memory the place of what it cannot take.
        func waitingLimit(_ capacity: Int) -> Int {
            switch self {
            case .loader: min(capacity, CacheStore.longestWait)
            case .program: capacity
            }
        }
    }

    /// What is still to be done about an entry of the folder.
    struct Pending: Sendable {
        enum Change: Sendable {
            /// The head of the request is needed to conceal its secrets the way that lasts; it goes when the entry is written.
            case write(CacheEntry, URLRequest, Admission)
            case remove
        }
        var change: Change
        /// Which call asked for it: a later one makes it void.
        var number: UInt64

        var entry: CacheEntry? {
            switch change {
            case .write(let entry, _, _): entry
            case .remove: nil
            }
        }
    }

    /// What a change has thrown out. It goes away when the lock has been left: what is the program's in it does what it likes
    /// then.
    struct Gone: Sendable {
        var entries = Few<CacheEntry>()
        var pending: Pending?
    }

    /// How many octets of what the loader stores wait to be written.
    static let longestWait = 4 << 20

    let state: Lock<State>
    /// The terms of entries in the folder: most have the same.
    let terms = Lock(CacheTermsPool())
    let folder: CacheFolder

    init(memoryCapacity: Int, diskCapacity: Int, folder: CacheFolder) {
        self.folder = folder
        state = Lock(
            State(memoryCapacity: max(0, memoryCapacity), diskCapacity: max(0, diskCapacity)))
    }

    // MARK: capacities

    /// How much may be in memory; what is over goes at once.
    var memoryCapacity: Int {
        get { state.withLock { $0.memoryCapacity } }
        set {
            _ = state.withLock { state in
                state.memoryCapacity = max(0, newValue)
                var gone = Gone()
                state.evict(&gone)
                return gone
            }
        }
    }

    /// How much may be in the folder; what is over goes soon. Without any the folder is left alone.
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

    /// What is in memory.
    var memoryUsage: Int { state.withLock { $0.memory.cost } }

    /// What is in the folder; may wait for the disk the first time.
    var diskUsage: Int {
        if diskCapacity == 0 { return 0 }
        learnFolder()
        return state.withLock { $0.index.cost }
    }

    /// How many entries of the loader's were not written because too much waited already.
    var droppedCount: Int { state.withLock { $0.droppedCount } }

    // MARK: storing

    /// Stores an entry under the address of a request, in place of the one of its party that is there.
    func store(_ entry: CacheEntry, address: String, request: URLRequest, admission: Admission) {
        let policy = entry.response.storagePolicy
        guard policy != .notAllowed else { return }
        let key = CacheKey(address: address, party: entry.provenance.party)
        let isForDisk =
            policy == .allowed && entry.provenance.mayBeWritten
            && !CacheRule.forbidsStoring(entry.httpResponse, for: request)
        let head = isForDisk ? request.head : request
        let (isDue, _) = state.withLock { state in
            var gone = Gone()
            state.keep(entry, for: key, admission, &gone)
            guard state.diskCapacity > 0 else { return (false, gone) }
            let isTaken = isForDisk && state.takes(entry.size, admission)
            state.change(key, isTaken ? .write(entry, head, admission) : .remove, &gone)
            return (state.beginTurn(), gone)
        }
        if isDue { StorageQueue.run { self.takeTurn() } }
    }

    /// Removes the entries of an address, whosoever they are.
    func remove(_ address: String) {
        let (isDue, _) = state.withLock { state in
            var gone: [Gone] = []
            for key in state.keys(of: address) { gone.append(state.remove(key)) }
            state.hideUnknown(address)
            return (state.beginTurn(), gone)
        }
        if isDue { StorageQueue.run { self.takeTurn() } }
    }

    /// Removes the one entry of an address that has that party.
    func remove(_ address: String, party: CacheParty?) {
        let (isDue, _) = state.withLock { state in
            let gone = state.remove(CacheKey(address: address, party: party))
            return (state.beginTurn(), gone)
        }
        if isDue { StorageQueue.run { self.takeTurn() } }
    }

    /// Removes all entries.
    func removeAll() {
        let (isDue, _, _) = state.withLock { state in
            let gone = (state.memory, state.pending)
            state.memory.removeAll()
            state.forgetPending()
            if state.diskCapacity > 0 { state.clearFolder() }
            return (state.beginTurn(), gone.0, gone.1)
        }
        if isDue { StorageQueue.run { self.takeTurn() } }
    }

    /// Removes the entries that were stored at that time or later. May wait for the disk the first time.
    func remove(since date: Date) {
        if diskCapacity > 0 { learnFolder() }
        let (isDue, _) = state.withLock { state in
            var gone: [Gone] = []
            for key in state.keys(storedSince: date) { gone.append(state.remove(key)) }
            // What another cache has stored in the folder since then is not known here.
            if state.diskCapacity > 0 { state.withdrawals?.insertAll() }
            return (state.beginTurn(), gone)
        }
        if isDue { StorageQueue.run { self.takeTurn() } }
    }

    /// Calls `done` on the storage queue when everything that was asked for before is on the disk.
    func flush(_ done: @escaping @Sendable () -> Void) {
        let number = state.withLock { $0.number }
        StorageQueue.run {
            self.writeOut(upTo: number)
            done()
        }
    }
}
