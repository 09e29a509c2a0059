// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// What a `URLCache` keeps: entries in memory, and under a folder those that outlive the process. Any thread may use it.
///
/// What is in memory, what is being written and what the folder is known to hold stand under one lock. The folder itself is
/// changed on the storage queue only, one entry after the other in the order of the calls; until a change is on the disk,
/// look-ups are answered by what it will leave there. So a call's effect is visible when the call returns, and nobody waits
/// for a disk but who asks for it (`response(for:)`, `remove(since:)`, `diskUsage`). The folder is looked through when it is
/// first needed, and again after so much was written that other processes may have filled it: till then entries that
/// they make under new names are not seen here.
///
/// This type knows sizes and recency. What may be stored and used is decided by `CacheRule` and `CacheDecision`; who may
/// have it, by `CacheAdmission`.
final class CacheStore: Sendable {
    /// How large an entry may be.
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
    }

    /// An entry in memory.
    struct Held: Sendable {
        var entry: CacheEntry
        /// The name of its file, if it has one.
        var name: CacheFileName?
    }

    /// What is still to be done about a file.
    struct Pending: Sendable {
        enum Change: Sendable {
            /// The head of the request is needed to conceal its secrets the way that lasts; it goes when the file is written.
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
    private struct Gone: Sendable {
        var held: [Held]
        private var pending: [Pending] = []

        init(_ held: Held?) { self.held = held.map { [$0] } ?? [] }

        mutating func add(_ voided: Pending?) { if let voided { pending.append(voided) } }
    }

    private let state: Lock<State>
    private let folder: CacheFolder
    private let folderHash = Lock<KeyedHash?>(nil)

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
                return state.evict()
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
        return state.withLock { $0.files.cost }
    }

    // MARK: storing

    /// Stores an entry under the address of a request, in place of the one of its party that is there.
    func store(_ entry: CacheEntry, address: String, request: URLRequest, admission: Admission) {
        let policy = entry.response.storagePolicy
        guard policy != .notAllowed else { return }
        let key = CacheKey(address: address, party: entry.provenance.party)
        let name = diskCapacity > 0 ? fileName(key) : nil
        let isForDisk =
            policy == .allowed && entry.provenance.mayBeWritten
            && !CacheRule.forbidsStoring(entry.httpResponse, for: request)
        let (number, _) = state.withLock { state in
            var gone = Gone(state.memory.remove(key))
            if entry.size <= admission.limit(state.memoryCapacity) {
                state.memory.insert(Held(entry: entry, name: name), for: key, cost: entry.size)
                gone.held += state.evict()
            }
            guard let name else { return (UInt64?.none, gone) }
            // A disk that does not keep up must not make memory the place of what it cannot take.
            let isTaken =
                isForDisk && entry.size <= admission.limit(state.diskCapacity)
                && entry.size <= state.diskCapacity - state.pendingSize
            let change: Pending.Change = isTaken ? .write(entry, request.head, admission) : .remove
            let (number, voided) = state.change(name, change)
            gone.add(voided)
            return (number, gone)
        }
        if let number, let name { StorageQueue.run { self.perform(number, on: name) } }
    }

    private func fileName(_ key: CacheKey) -> CacheFileName? {
        CacheFileName(CacheEntryFile.digest(of: key.address), key.party)
    }

    /// Removes the entries of an address, whosoever they are.
    func remove(_ address: String) {
        let plain = diskCapacity > 0 ? fileName(CacheKey(address: address, party: nil)) : nil
        let (numbers, isSearched, _) = state.withLock { state in
            var gone = Gone(state.memory.remove(CacheKey(address: address, party: nil)))
            for key in state.memory.others(of: address) {
                if let held = state.memory.remove(key) { gone.held.append(held) }
            }
            guard let plain else { return ([(UInt64, CacheFileName)](), false, gone) }
            var numbers: [(UInt64, CacheFileName)] = []
            for name in state.names(of: plain) {
                let (number, voided) = state.change(name, .remove)
                if let number { numbers.append((number, name)) }
                gone.add(voided)
            }
            return (numbers, state.hideUnknown(plain.address), gone)
        }
        for (number, name) in numbers { StorageQueue.run { self.perform(number, on: name) } }
        if isSearched, let plain { StorageQueue.run { self.removeUnknown(plain.address) } }
    }

    /// Removes the one entry of an address that has that party.
    func remove(_ address: String, party: CacheParty?) {
        let key = CacheKey(address: address, party: party)
        let name = diskCapacity > 0 ? fileName(key) : nil
        let (number, _) = state.withLock { state in
            var gone = Gone(state.memory.remove(key))
            guard let name else { return (UInt64?.none, gone) }
            let (number, voided) = state.change(name, .remove)
            gone.add(voided)
            return (number, gone)
        }
        if let number, let name { StorageQueue.run { self.perform(number, on: name) } }
    }

    /// Removes the files of an address that were not known of when it was to be emptied, but for those that were stored since.
    /// On the storage queue.
    private func removeUnknown(_ address: String) {
        learnFolder()
        let names = state.withLock { state in
            let names = state.files.others(of: address).filter { state.pending[$0] == nil }
            for name in names { state.files.remove(name) }
            return names
        }
        for name in names { folder.remove(name) }
        state.withLock { $0.showUnknown(address) }
    }

    /// Removes all entries.
    func removeAll() {
        let (hasFolder, _, _) = state.withLock { state in
            let gone = (state.memory, state.pending)
            state.memory.removeAll()
            state.pending = [:]
            state.pendingSize = 0
            state.number += 1
            guard state.diskCapacity > 0 else { return (false, gone.0, gone.1) }
            state.files.removeAll()
            state.folderIsKnown = true
            state.clearings += 1
            return (true, gone.0, gone.1)
        }
        guard hasFolder else { return }
        StorageQueue.run { [self] in
            folder.removeAll()
            state.withLock { $0.clearings -= 1 }
        }
    }

    /// Removes the entries that were stored at that time or later. Waits for the disk.
    func remove(since date: Date) {
        let (keys, pending, hasFolder) = state.withLock { state in
            (
                state.memory.keysFromLeastRecent.filter { key in
                    state.memory[key].map { $0.entry.storedTime >= date } ?? false
                },
                state.pending.compactMap { name, pending in
                    pending.entry.map { $0.storedTime >= date } ?? false ? name : nil
                },
                state.diskCapacity > 0
            )
        }
        for key in keys { remove(key.address, party: key.party) }
        guard hasFolder else { return }
        learnFolder()
        let names = Set(state.withLock { $0.files.keysFromLeastRecent })
        let stored = names.filter { name in folder.storedTime(of: name).map { $0 >= date } ?? false }
        for name in stored.union(pending) {
            let (number, _) = state.withLock { $0.change(name, .remove) }
            if let number { StorageQueue.run { self.perform(number, on: name) } }
        }
    }

    /// Calls `done` on the storage queue when everything that was asked for before is on the disk.
    func flush(_ done: @escaping @Sendable () -> Void) { StorageQueue.run(done) }

    // MARK: looking up

    /// The plain party's response for an address, whatever it says about itself (U-12.2); may wait for the disk.
    func response(for address: String) -> CachedURLResponse? {
        let key = CacheKey(address: address, party: nil)
        if let entry = state.withLock({ $0.used(key) }) { return entry.response }
        guard diskCapacity > 0, let name = fileName(key) else { return nil }
        let (known, number, limit) = state.withLock { ($0.known(name), $0.number, $0.diskCapacity) }
        switch known {
        case .entry(let entry): return entry.response
        case .nothing: return nil
        case .lookInFolder: break
        }
        switch folder.read(name, upTo: limit) {
        case .entry(let entry, _):
            // Who may see it was not asked: with concealed secrets in it nobody could ask later.
            if !entry.vary.holdsSecrets {
                _ = state.withLock { state in
                    state.number == number ? state.promote(entry, key: key, name: name) : []
                }
            }
            StorageQueue.run { self.folder.touch(name) }
            return entry.response
        case .nothing: return nil
        case .damage:
            StorageQueue.run { _ = self.read(name) }
            return nil
        }
    }

    /// Hands the entry that answers a reader's request to `reply`: at once, on the caller's thread, where no disk has to be
    /// asked, else on the storage queue.
    func lookUp(
        _ address: String, _ request: URLRequest, for reader: CacheReader,
        reply: @escaping @Sendable (CacheEntry?) -> Void
    ) {
        switch lookUpAtHand(address, request, for: reader) {
        case .known(let entry): reply(entry)
        case .onDisk: StorageQueue.run { reply(self.fetch(address, request, for: reader)) }
        }
    }

    /// What can be said of a request without the disk.
    enum AtHand: Sendable {
        case known(CacheEntry?)
        /// There may be a file.
        case onDisk
    }

    /// As far as `lookUp` comes at once.
    func lookUpAtHand(_ address: String, _ request: URLRequest, for reader: CacheReader) -> AtHand {
        var digest: SHA256Digest?
        for party in CacheAdmission.parties(of: reader) {
            let held = state.withLock { ($0.used(CacheKey(address: address, party: party)), $0.diskCapacity) }
            if let entry = held.0 {
                if entry.answers(request, of: reader) { return .known(entry) }
                continue
            }
            if held.1 == 0 { continue }
            let known = digest ?? CacheEntryFile.digest(of: address)
            digest = known
            guard let name = CacheFileName(known, party) else { continue }
            switch state.withLock({ $0.known(name) }) {
            case .entry(let entry): if entry.answers(request, of: reader) { return .known(entry) }
            case .nothing: break
            case .lookInFolder: return .onDisk
            }
        }
        return .known(nil)
    }

    /// The entry in the folder that answers a request; goes into memory, too. On the storage queue.
    private func fetch(_ address: String, _ request: URLRequest, for reader: CacheReader) -> CacheEntry? {
        learnFolder()
        for party in CacheAdmission.parties(of: reader) {
            let key = CacheKey(address: address, party: party)
            // Much can have happened while this waited for its turn.
            if let held = state.withLock({ $0.used(key) }) {
                if held.answers(request, of: reader) { return held }
                continue
            }
            guard let name = fileName(key) else { continue }
            switch state.withLock({ $0.known(name) }) {
            case .entry(let entry): if entry.answers(request, of: reader) { return entry }
            case .nothing: break
            case .lookInFolder: if let entry = fetch(name, key, request, for: reader) { return entry }
            }
        }
        return nil
    }

    private func fetch(
        _ name: CacheFileName, _ key: CacheKey, _ request: URLRequest, for reader: CacheReader
    ) -> CacheEntry? {
        guard let found = read(name) else { return nil }
        folder.touch(name)
        guard found.answers(request, of: reader, conceal: conceal) else { return nil }
        let entry = found.concealed(
            by: CacheEntry.conceal, for: request, identifying: reader.identifyingFields)
        _ = state.withLock { $0.promote(entry, key: key, name: name) }
        return entry
    }

    // MARK: the folder

    /// Reads an entry, and removes what is none. On the storage queue.
    private func read(_ name: CacheFileName) -> CacheEntry? {
        switch folder.read(name, upTo: diskCapacity) {
        case .entry(let entry, let size):
            state.withLock { state in
                if state.clearings == 0, state.files.use(name) == nil {
                    state.files.insert(true, for: name, cost: size)
                }
            }
            return entry
        case .damage:
            folder.remove(name)
            _ = state.withLock { $0.files.remove(name) }
            return nil
        case .nothing:
            _ = state.withLock { $0.files.remove(name) }
            return nil
        }
    }

    /// Does what a call asked for about a file, unless a later one has made it void. On the storage queue.
    private func perform(_ number: UInt64, on name: CacheFileName) {
        learnFolder()
        let (pending, capacity) = state.withLock { ($0.pending[name], $0.diskCapacity) }
        guard let pending, pending.number == number else { return }
        let size = write(pending.change, name, capacity)
        if size == nil { folder.remove(name) }
        let (isFull, _) = state.withLock { state in
            var done: Pending?
            if state.pending[name]?.number == number {
                done = state.takePending(name)
                state.files.remove(name)
                if let size { state.files.insert(true, for: name, cost: size) }
            }
            state.written += size ?? 0
            return (state.files.cost > state.diskCapacity || state.written > state.diskCapacity / 8, done)
        }
        if isFull { evictFiles() }
    }

    /// Writes what is to be written; nil when there is to be no file.
    private func write(_ change: Pending.Change, _ name: CacheFileName, _ capacity: Int) -> Int? {
        guard case .write(let entry, let request, let admission) = change, let digest = name.addressDigest,
            let octets = CacheEntryFile.octets(
                of: entry.concealed(by: conceal, for: request, identifying: entry.identifying),
                digest: digest),
            octets.count <= admission.limit(capacity)
        else { return nil }
        do {
            try folder.write(octets, name: name)
            return octets.count
        } catch {
            // A disk that cannot be written to costs the entry, and the loader nothing.
            return nil
        }
    }

    /// Hides a secret of what goes into the folder. On the storage queue.
    private func conceal(_ secret: String) -> String {
        if let hash = folderHash.withLock({ $0 }) { return hash.text(for: secret) }
        let hash = folder.hash()
        folderHash.withLock { $0 = hash }
        return hash.text(for: secret)
    }

    /// Looks through the folder, once.
    private func learnFolder() {
        if state.withLock({ $0.folderIsKnown }) { return }
        let items = folder.items()
        state.withLock { state in
            if state.folderIsKnown { return }
            state.folderIsKnown = true
            for item in items { state.files.insert(true, for: item.name, cost: item.size) }
        }
        StorageQueue.run { self.evictFiles() }
    }

    /// Looks through the folder again where other processes may have filled it, and removes what is over the capacity, the
    /// files that were not used for the longest time first. On the storage queue.
    private func evictFiles() {
        learnFolder()
        if state.withLock({ $0.written > $0.diskCapacity / 8 }) {
            let items = folder.items()
            state.withLock { $0.take(items) }
        }
        let victims = state.withLock { state in
            var victims: [CacheFileName] = []
            while state.files.cost > state.diskCapacity, let (name, _) = state.files.removeLeastRecent() {
                victims.append(name)
            }
            return victims
        }
        for name in victims { folder.remove(name) }
    }
}
