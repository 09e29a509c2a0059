// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Writes a store's changes to its folder. Runs on the storage queue, except for `learnFolder()`.
extension CacheStore {
    /// How many bytes are written at a time; other users of the storage queue run in between.
    private static let batchSize = 1 << 20

    /// Reads the folder's index, once.
    func learnFolder() {
        let (isKnown, capacity) = state.withLock { ($0.folderIsKnown, $0.diskCapacity) }
        if isKnown { return }
        // Several threads may get here; all find the same index, and the first one's is used.
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

    /// The hash that conceals secrets in the folder; the first access reads its key.
    var folderHash: KeyedHash {
        if let hash = state.withLock({ $0.hash }) { return hash }
        let hash = folder.hash()
        state.withLock { $0.hash = hash }
        return hash
    }

    /// Returns the keyed hash of a secret for the folder.
    func conceal(_ secret: String) -> String { folderHash.text(for: secret) }

    /// Performs one batch, and schedules another if more is pending.
    func takeTurn() {
        writeBatch(isLast: false)
        let isDue = state.withLock { state in
            state.hasTurn = false
            return state.beginTurn()
        }
        if isDue { StorageQueue.run { self.takeTurn() } }
    }

    /// Performs all changes up to this number.
    func writeOut(upTo number: UInt64) {
        while state.withLock({ state in state.queue.first.map { $0.number <= number } ?? state.mustClear }) {
            writeBatch(isLast: false)
        }
        // The uses and evictions, which the next process needs for its order of use.
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
                // A reader cannot clear the folder before it becomes the writer.
                if access != .reader { state.withdrawals = access == .writer ? nil : PendingRemovals() }
            }
        }
        perform(work, capacity, clearings)
        state.withLock { $0.evictFiles() }
        tidy(capacity, clearings)
    }

    /// Becomes the folder's writer, if anything is to be written and the previous writer has ended.
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
            // Entries that are about to be cleared are ignored.
            if state.clearings != clearings { return [] }
            return state.finish(work, isLogged ? stored : .init(repeating: nil, count: stored.count))
        }
        if !isLogged, folder.access == .writer { repair() }
    }

    /// Appends the entries to be written. Returns their items, one for each change; nil for a change without one.
    private func append(_ work: Work, _ capacity: Int) -> [CacheIndex.Item?] {
        var stored = [CacheIndex.Item?](repeating: nil, count: work.changes.count)
        if work.writes == 0 { return stored }
        var drafts: [(change: Int, terms: CacheTerms, storedTime: Date)] = []
        var lengths: [Int] = []
        var writer = OctetWriter(capacity: work.size + work.writes * CacheEntryFile.usualHeadCount)
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

    /// Replaces the index after a failed write, because it must not refer to entries that were replaced or removed. Empties the
    /// folder if even that fails.
    private func repair() {
        if forgetIfGone() { return }
        if folder.replaceIndex(state.withLock { $0.index.changes }) { return }
        folder.forgetAll()
        state.withLock { $0.index = CacheIndex() }
    }

    /// Starts anew if the folder was removed by somebody else; returns false if it still exists.
    @discardableResult
    private func forgetIfGone() -> Bool {
        guard folder.closeIfGone() else { return false }
        state.withLock { state in
            state.index = CacheIndex()
            state.withdrawals = PendingRemovals()
        }
        return true
    }

    // MARK: tidying up

    /// Evicts entries from the folder until it is within its capacity.
    func evictFiles() {
        learnFolder()
        state.withLock { $0.evictFiles() }
        writeBatch(isLast: true)
    }

    /// Removes unused segments, and rewrites at most one segment that is mostly unused.
    private func tidy(_ capacity: Int, _ clearings: Int) {
        guard folder.access == .writer else { return }
        let (live, count) = state.withLock { ($0.index.live, $0.index.count) }
        folder.removeSegments(but: live)
        if let segment = folder.sparseSegment(capacity: capacity, live: live) {
            rewrite(segment, capacity, clearings)
            folder.removeSegments(but: state.withLock { $0.index.live })
        }
        // After a failure the old index remains, which means the same.
        if folder.isIndexLong(count) {
            _ = folder.replaceIndex(state.withLock { $0.index.changes })
        }
    }

    /// Moves the live entries of a segment to the current segment.
    private func rewrite(_ segment: UInt64, _ capacity: Int, _ clearings: Int) {
        var moved: [(key: CacheKey, from: EntryLocation)] = []
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
