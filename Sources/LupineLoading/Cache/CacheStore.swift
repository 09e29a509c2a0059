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
/// This type knows sizes and recency. What may be stored and used is decided by `CacheRule` and `CacheDecision`.
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
    fileprivate struct Held: Sendable {
        var entry: CacheEntry
        /// The name of its file, if the cache has a folder.
        var name: String?
    }

    /// What is still to be done about a file.
    fileprivate struct Pending: Sendable {
        enum Change: Sendable {
            /// The request is needed to conceal its secrets the way that lasts; it goes when the file is written.
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

    fileprivate struct State: Sendable {
        var memory = RecencyList<String, Held>()
        var memoryCapacity: Int
        var diskCapacity: Int
        /// The files of the folder, by name. Nothing is said by it before `folderIsKnown`.
        var files = RecencyList<String, Bool>()
        var folderIsKnown = false
        var pending: [String: Pending] = [:]
        /// What the entries that are to be written count for.
        var pendingSize = 0
        /// How often the folder is still to be emptied: until then what is in it counts for nothing.
        var clearings = 0
        /// How many changes were asked for.
        var number: UInt64 = 0
        /// How many octets were written since the folder was last looked through.
        var written = 0
    }

    /// What is known about a file without looking.
    fileprivate enum Known: Sendable {
        case entry(CacheEntry)
        case nothing
        case lookInFolder
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

    /// Stores an entry under the key of a request, in place of the one that is there.
    func store(_ entry: CacheEntry, key: String, request: URLRequest, admission: Admission) {
        let policy = entry.response.storagePolicy
        guard policy != .notAllowed else { return }
        let digest = diskCapacity > 0 ? CacheEntryFile.digest(of: key) : nil
        let name = digest?.description
        let isForDisk = policy == .allowed && !CacheRule.forbidsStoring(entry.response.response, for: request)
        let (number, _) = state.withLock { state in
            var gone = state.memory.remove(key).map { [$0] } ?? []
            if entry.size <= admission.limit(state.memoryCapacity) {
                state.memory.insert(Held(entry: entry, name: name), for: key, cost: entry.size)
                gone += state.evict()
            }
            guard let name else { return (UInt64?.none, gone) }
            // A disk that does not keep up must not make memory the place of what it cannot take.
            let isTaken =
                isForDisk && entry.size <= admission.limit(state.diskCapacity)
                && entry.size <= state.diskCapacity - state.pendingSize
            let change: Pending.Change = isTaken ? .write(entry, request, admission) : .remove
            let (number, voided) = state.change(name, change)
            if let voided { gone.append(Held(entry: voided)) }
            return (number, gone)
        }
        if let number, let digest { StorageQueue.run { self.perform(number, on: digest) } }
    }

    /// Removes the entry of a key.
    func remove(_ key: String) {
        let digest = diskCapacity > 0 ? CacheEntryFile.digest(of: key) : nil
        let (number, _) = state.withLock { state in
            var gone = state.memory.remove(key).map { [$0] } ?? []
            guard let name = digest?.description else { return (UInt64?.none, gone) }
            let (number, voided) = state.change(name, .remove)
            if let voided { gone.append(Held(entry: voided)) }
            return (number, gone)
        }
        if let number, let digest { StorageQueue.run { self.perform(number, on: digest) } }
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
        for key in keys { remove(key) }
        guard hasFolder else { return }
        learnFolder()
        let names = Set(state.withLock { $0.files.keysFromLeastRecent })
        let stored = names.filter { name in
            CacheFolder.digest(name).flatMap(folder.storedTime).map { $0 >= date } ?? false
        }
        for name in stored.union(pending) {
            guard let digest = CacheFolder.digest(name) else { continue }
            let (number, _) = state.withLock { $0.change(name, .remove) }
            if let number { StorageQueue.run { self.perform(number, on: digest) } }
        }
    }

    /// Calls `done` on the storage queue when everything that was asked for before is on the disk.
    func flush(_ done: @escaping @Sendable () -> Void) { StorageQueue.run(done) }

    // MARK: looking up

    /// The response under a key, whatever it says about itself (U-12.2); may wait for the disk.
    func response(for key: String) -> CachedURLResponse? {
        if let entry = state.withLock({ $0.used(key) }) { return entry.response }
        guard diskCapacity > 0 else { return nil }
        let digest = CacheEntryFile.digest(of: key)
        let name = digest.description
        let (known, number, limit) = state.withLock { ($0.known(name), $0.number, $0.diskCapacity) }
        switch known {
        case .entry(let entry): return entry.response
        case .nothing: return nil
        case .lookInFolder: break
        }
        switch folder.read(digest, upTo: limit) {
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
            StorageQueue.run { _ = self.read(digest) }
            return nil
        }
    }

    /// Hands the entry that answers a request to `reply`: at once, on the caller's thread, where no disk has to be asked, else
    /// on the storage queue.
    func lookUp(_ key: String, _ request: URLRequest, reply: @escaping @Sendable (CacheEntry?) -> Void) {
        switch lookUpAtHand(key, request) {
        case .known(let entry): reply(entry)
        case .onDisk(let digest): StorageQueue.run { reply(self.fetch(key, digest, request)) }
        }
    }

    /// What can be said of a request without the disk.
    enum AtHand: Sendable {
        case known(CacheEntry?)
        /// The file of that name may be there.
        case onDisk(SHA256Digest)
    }

    /// As far as `lookUp` comes at once.
    func lookUpAtHand(_ key: String, _ request: URLRequest) -> AtHand {
        let answer = { (entry: CacheEntry) in AtHand.known(entry.answers(request) ? entry : nil) }
        if let entry = state.withLock({ $0.used(key) }) { return answer(entry) }
        guard diskCapacity > 0 else { return .known(nil) }
        let digest = CacheEntryFile.digest(of: key)
        switch state.withLock({ $0.known(digest.description) }) {
        case .entry(let entry): return answer(entry)
        case .nothing: return .known(nil)
        case .lookInFolder: return .onDisk(digest)
        }
    }

    /// The entry in the folder that answers a request; goes into memory, too. On the storage queue.
    private func fetch(_ key: String, _ digest: SHA256Digest, _ request: URLRequest) -> CacheEntry? {
        learnFolder()
        let name = digest.description
        // Much can have happened while this waited for its turn.
        let (held, known) = state.withLock { ($0.used(key), $0.known(name)) }
        if let held { return held.answers(request) ? held : nil }
        switch known {
        case .entry(let entry): return entry.answers(request) ? entry : nil
        case .nothing: return nil
        case .lookInFolder: break
        }
        guard let found = read(digest) else { return nil }
        folder.touch(name)
        guard found.answers(request, conceal: conceal) else { return nil }
        let entry = found.concealed(by: CacheEntry.conceal, for: request)
        _ = state.withLock { $0.promote(entry, key: key, name: name) }
        return entry
    }

    // MARK: the folder

    /// Reads an entry, and removes what is none. On the storage queue.
    private func read(_ digest: SHA256Digest) -> CacheEntry? {
        let name = digest.description
        switch folder.read(digest, upTo: diskCapacity) {
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
    private func perform(_ number: UInt64, on digest: SHA256Digest) {
        learnFolder()
        let name = digest.description
        let (pending, capacity) = state.withLock { ($0.pending[name], $0.diskCapacity) }
        guard let pending, pending.number == number else { return }
        let size = write(pending.change, digest, capacity)
        if size == nil { folder.remove(name) }
        let (isFull, _) = state.withLock { state in
            var done: CacheEntry?
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
    private func write(_ change: Pending.Change, _ digest: SHA256Digest, _ capacity: Int) -> Int? {
        guard case .write(let entry, let request, let admission) = change,
            let octets = CacheEntryFile.octets(
                of: entry.concealed(by: conceal, for: request), digest: digest),
            octets.count <= admission.limit(capacity)
        else { return nil }
        do {
            try folder.write(octets, name: digest.description)
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
            var victims: [String] = []
            while state.files.cost > state.diskCapacity, let (name, _) = state.files.removeLeastRecent() {
                victims.append(name)
            }
            return victims
        }
        for name in victims { folder.remove(name) }
    }
}

extension CacheStore.State {
    /// The entry in memory under a key, which is now the one used last.
    fileprivate mutating func used(_ key: String) -> CacheEntry? {
        guard let held = memory.use(key) else { return nil }
        if let name = held.name { _ = files.use(name) }
        return held.entry
    }

    /// What there is under a name without looking into the folder.
    fileprivate func known(_ name: String) -> CacheStore.Known {
        if let pending = pending[name] { return pending.entry.map { .entry($0) } ?? .nothing }
        if clearings > 0 || diskCapacity == 0 { return .nothing }
        return folderIsKnown && files[name] == nil ? .nothing : .lookInFolder
    }

    /// Puts what was read from the folder into memory, unless something newer is there or on its way. Gives back what had
    /// to go.
    fileprivate mutating func promote(
        _ entry: CacheEntry, key: String, name: String
    ) -> [CacheStore.Held] {
        guard memory[key] == nil, pending[name] == nil, clearings == 0,
            entry.size <= CacheStore.Admission.loader.limit(memoryCapacity)
        else { return [] }
        memory.insert(CacheStore.Held(entry: entry, name: name), for: key, cost: entry.size)
        return evict()
    }

    /// Takes out of memory what is over its capacity. The caller lets go of it when it has left the lock: a program's own
    /// values may be in it, which do what they like when they end.
    fileprivate mutating func evict() -> [CacheStore.Held] {
        var gone: [CacheStore.Held] = []
        while memory.cost > memoryCapacity, let (_, held) = memory.removeLeastRecent() { gone.append(held) }
        return gone
    }

    /// Notes what is to be done about a file, in place of what was to be done. Gives back its number, nil when nothing is,
    /// and the entry that is not to be written any more.
    fileprivate mutating func change(
        _ name: String, _ change: CacheStore.Pending.Change
    ) -> (number: UInt64?, voided: CacheEntry?) {
        number += 1
        let isUntouched = pending[name] == nil
        let voided = takePending(name)
        switch change {
        case .write(let entry, _, _): pendingSize += entry.size
        case .remove:
            // What was to be written may be on its way to the disk already; else the files that are known are all.
            if isUntouched, folderIsKnown, clearings == 0, files[name] == nil { return (nil, voided) }
        }
        pending[name] = CacheStore.Pending(change: change, number: number)
        return (number, voided)
    }

    /// Takes out what was to be done about a file, and gives back the entry that was to be written.
    fileprivate mutating func takePending(_ name: String) -> CacheEntry? {
        guard let taken = pending.removeValue(forKey: name), let entry = taken.entry else { return nil }
        pendingSize -= entry.size
        return entry
    }

    /// Takes over what was found in the folder: what is known keeps its turn, what is new counts as used just now.
    fileprivate mutating func take(_ items: [CacheFolder.Item]) {
        written = 0
        if clearings > 0 { return }
        let sizes = Dictionary(items.map { ($0.name, $0.size) }, uniquingKeysWith: { first, _ in first })
        let old = files
        files.removeAll()
        for name in old.keysFromLeastRecent {
            if let size = sizes[name] { files.insert(true, for: name, cost: size) }
        }
        for item in items where old[item.name] == nil { files.insert(true, for: item.name, cost: item.size) }
    }
}
