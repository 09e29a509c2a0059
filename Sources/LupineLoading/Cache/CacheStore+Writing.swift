// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// How a store brings its folder up to date. On the storage queue, but for `learnFolder()`.
extension CacheStore {
    /// How many octets are written at a time; others who need the storage queue have their turn in between.
    private static let batchSize = 1 << 20

    /// Reads what the folder holds, once.
    func learnFolder() {
        let (isKnown, capacity) = state.withLock { ($0.folderIsKnown, $0.diskCapacity) }
        if isKnown { return }
        // Several threads may get here; all have found the same, and the first one's counts.
        let found = folder.open(capacity: capacity, isMade: false)
        let isWriter = folder.access == .writer
        let isDue = state.withLock { state in
            if let found { state.learn(found, isWriter: isWriter) }
            state.evictFiles()
            return state.beginTurn()
        }
        folder.forgetFound()
        if isDue { StorageQueue.run { self.takeTurn() } }
    }

    /// The hash that conceals secrets in the folder; the first time its key is read.
    var folderHash: KeyedHash {
        if let hash = state.withLock({ $0.hash }) { return hash }
        let hash = folder.hash()
        state.withLock { $0.hash = hash }
        return hash
    }

    /// Hides a secret of what goes into the folder.
    func conceal(_ secret: String) -> String { folderHash.text(for: secret) }

    /// Does some of what waits, and comes again for the rest.
    func takeTurn() {
        writeBatch(isLast: false)
        let isDue = state.withLock { state in
            state.hasTurn = false
            return state.beginTurn()
        }
        if isDue { StorageQueue.run { self.takeTurn() } }
    }

    /// Does everything that was asked for up to a call.
    func writeOut(upTo number: UInt64) {
        while state.withLock({ state in state.queue.first.map { $0.number <= number } ?? state.mustClear }) {
            writeBatch(isLast: false)
        }
        // What is only for the next process' order of use.
        writeBatch(isLast: true)
    }

    private func writeBatch(isLast: Bool) {
        learnFolder()
        becomeWriter()
        let (work, capacity, clearings) = state.withLock { state in
            (state.takeWork(upTo: isLast ? 0 : Self.batchSize), state.diskCapacity, state.clearings)
        }
        if work.isEmpty { return }
        if work.mustClear {
            folder.clear(capacity: capacity)
            let access = folder.access
            state.withLock { state in
                if state.clearings != clearings { return }
                state.mustClear = false
                // A reader cannot clear the folder before it is the writer.
                if access != .reader { state.withdrawals = access == .writer ? nil : CacheWithdrawals() }
            }
        }
        perform(work, capacity, clearings)
        state.withLock { $0.evictFiles() }
        tidy(capacity, clearings)
    }

    /// Makes this the folder's writer, if something is to be done about the folder and the one that it had has ended.
    private func becomeWriter() {
        guard folder.access == .reader, !state.withLock({ $0.isIdle }),
            let found = folder.becomeWriter(capacity: diskCapacity)
        else { return }
        state.withLock { $0.takeOver(found, isWriter: true) }
    }

    // MARK: a batch

    private func perform(_ work: Work, _ capacity: Int, _ clearings: Int) {
        if folder.lacksIndex { repair() }
        let stored = append(work, capacity)
        let changes = state.withLock { state in
            state.clearings == clearings ? state.log(of: work, stored) : []
        }
        let isLogged = folder.log(changes)
        _ = state.withLock { state in
            // What is to be cleared counts for nothing.
            if state.clearings == clearings { return state.finish(work, isLogged ? stored : [:]) }
            return []
        }
        if !isLogged, folder.access == .writer { repair() }
    }

    /// Appends the octets of entries that are to be written; gives back where they are.
    private func append(_ work: Work, _ capacity: Int) -> [CacheKey: CacheIndex.Item] {
        var drafts: [(key: CacheKey, terms: CacheTerms, storedTime: Date)] = []
        var runs: [[UInt8]] = []
        var pool = CacheTermsPool()
        for (key, pending) in work.changes {
            guard case .write(let entry, let request, let admission) = pending.change else { continue }
            let concealed = entry.concealed(by: conceal, for: request, identifying: entry.identifying)
            guard let terms = pool.terms(of: concealed),
                let octets = CacheEntryFile.octets(
                    of: concealed, digest: CacheEntryFile.digest(of: key.address)),
                octets.count <= admission.limit(capacity)
            else { continue }
            drafts.append((key, terms, entry.storedTime))
            runs.append(octets)
        }
        if runs.isEmpty { return [:] }
        if folder.access == .none { openForWriting(capacity) }
        guard let places = folder.append(runs, capacity: capacity) else {
            forgetIfGone()
            return [:]
        }
        var stored: [CacheKey: CacheIndex.Item] = [:]
        for (draft, place) in zip(drafts, places) {
            stored[draft.key] = CacheIndex.Item(
                place: place, storedTime: draft.storedTime, terms: draft.terms)
        }
        return stored
    }

    private func openForWriting(_ capacity: Int) {
        if let found = folder.open(capacity: capacity, isMade: true) {
            let isWriter = folder.access == .writer
            state.withLock { $0.takeOver(found, isWriter: isWriter) }
        }
        folder.forgetFound()
    }

    /// The disk has not taken what the index is to say: what it says must not be what was replaced or removed.
    private func repair() {
        if forgetIfGone() { return }
        if folder.replaceIndex(state.withLock { $0.index.changes }) { return }
        folder.forgetAll()
        state.withLock { $0.index = CacheIndex() }
    }

    /// Begins anew when somebody has removed the folder; false when it is there.
    @discardableResult
    private func forgetIfGone() -> Bool {
        guard folder.closeIfGone() else { return false }
        state.withLock { state in
            state.index = CacheIndex()
            state.withdrawals = CacheWithdrawals()
        }
        return true
    }

    // MARK: tidying up

    /// Removes what is over the capacity.
    func evictFiles() {
        learnFolder()
        state.withLock { $0.evictFiles() }
        writeBatch(isLast: true)
    }

    /// Throws away what nobody needs, and writes anew what is mostly that: not more at a time than a segment.
    private func tidy(_ capacity: Int, _ clearings: Int) {
        guard folder.access == .writer else { return }
        let (live, count) = state.withLock { ($0.index.live, $0.index.count) }
        folder.removeSegments(but: live)
        if let segment = folder.sparseSegment(capacity: capacity, live: live) {
            rewrite(segment, capacity, clearings)
            folder.removeSegments(but: state.withLock { $0.index.live })
        }
        // A failure leaves the old one, which says the same.
        if folder.isIndexLong(count) {
            _ = folder.replaceIndex(state.withLock { $0.index.changes })
        }
    }

    /// Appends the entries of a segment to the last one.
    private func rewrite(_ segment: UInt64, _ capacity: Int, _ clearings: Int) {
        var moved: [(key: CacheKey, from: CachePlace)] = []
        var runs: [[UInt8]] = []
        var lost: [CacheKey] = []
        for (key, item) in state.withLock({ $0.index.entries(in: segment) }) {
            guard let octets = folder.octets(at: item.place), octets.count == item.place.length else {
                lost.append(key)
                continue
            }
            moved.append((key, item.place))
            runs.append(octets)
        }
        state.withLock { $0.lose(lost) }
        guard let places = folder.append(runs, capacity: capacity),
            folder.log(zip(moved, places).map { .moved($0.from.start, $1) })
        else { return }
        state.withLock { state in
            if state.clearings != clearings { return }
            for ((key, from), place) in zip(moved, places) {
                _ = state.index.move(key, from: from, to: place)
            }
        }
    }
}
