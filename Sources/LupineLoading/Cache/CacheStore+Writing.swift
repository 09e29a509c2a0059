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
            if state.clearings != clearings { return [] }
            return state.finish(work, isLogged ? stored : .init(repeating: nil, count: stored.count))
        }
        if !isLogged, folder.access == .writer { repair() }
    }

    /// Appends the octets of entries that are to be written. Gives back where they are, one for each change; nil where there is none.
    private func append(_ work: Work, _ capacity: Int) -> [CacheIndex.Item?] {
        var stored = [CacheIndex.Item?](repeating: nil, count: work.changes.count)
        if work.writes == 0 { return stored }
        var drafts: [(change: Int, terms: CacheTerms, storedTime: Date)] = []
        var lengths: [Int] = []
        var writer = OctetWriter(room: work.size + work.writes * CacheEntryFile.usualHeadCount)
        for (change, (key, pending)) in work.changes.enumerated() {
            guard case .write(let entry, let request, let admission) = pending.change else { continue }
            let concealed = entry.concealed(by: conceal, for: request, identifying: entry.identifying)
            let start = writer.count
            guard let terms = terms.withLock({ $0.terms(of: concealed) }),
                CacheEntryFile.write(
                    concealed, on: terms, digest: CacheEntryFile.digest(of: key.address), to: &writer)
            else { continue }
            guard writer.count - start <= admission.limit(capacity) else {
                writer.remove(from: start)
                continue
            }
            drafts.append((change, terms, entry.storedTime))
            lengths.append(writer.count - start)
        }
        if lengths.isEmpty { return stored }
        if folder.access == .none { openForWriting(capacity) }
        let places = writer.withOctets(from: 0) { folder.append($0, lengths: lengths, capacity: capacity) }
        guard let places else {
            forgetIfGone()
            return stored
        }
        for (draft, place) in zip(drafts, places) {
            stored[draft.change] = CacheIndex.Item(
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
        var octets: [UInt8] = []
        var lost: [CacheKey] = []
        for (key, item) in state.withLock({ $0.index.entries(in: segment) }) {
            guard let run = folder.octets(at: item.place), run.count == item.place.length else {
                lost.append(key)
                continue
            }
            moved.append((key, item.place))
            octets += run
        }
        state.withLock { $0.lose(lost) }
        guard
            let places = folder.append(
                octets.span, lengths: moved.map(\.from.length), capacity: capacity),
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
