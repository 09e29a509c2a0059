// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Writes a store's changes to its folder. Runs on the storage queue, except for `readFolderIndex()`.
extension CacheStore {
    /// How many bytes a batch writes. Other jobs of the storage queue run between two batches.
    private static let batchSize = 1 << 20

    /// Reads the folder's index, unless it was read before.
    func readFolderIndex() {
        let (hasReadFolder, capacity) = state.withLock { ($0.hasReadFolder, $0.diskCapacity) }
        if hasReadFolder { return }
        // Several threads may read the same index at a time; the state adopts that of the first.
        let index = folder.open(capacity: capacity, createsFolder: false)
        let isWriter = folder.access == .writer
        let batchStart = state.withLock { state in
            if let index { state.adopt(index, isWriter: isWriter) }
            state.evictFromFolder()
            return state.claimBatch()
        }
        folder.releaseInitialIndex()
        schedule(batchStart)
    }

    /// The hash that conceals secrets in the folder; the first access reads its key.
    var folderHash: KeyedHash {
        if let hash = state.withLock({ $0.hash }) { return hash }
        let hash = folder.hash()
        state.withLock { $0.hash = hash }
        return hash
    }

    /// Returns the keyed hash of a secret for the folder.
    func conceal(_ secret: String) -> String { folderHash.hexDigits(of: secret) }

    /// Schedules a batch. Any thread.
    func schedule(_ start: BatchStart?) {
        switch start {
        case .now: StorageQueue.run { self.runBatch() }
        case .at(let moment):
            // The alarm does not retain the store: `finish()` writes pending changes when the cache is released.
            // The alarm is never cancelled: `alarmFired()` ignores one that is not needed any more.
            _ = LoadAlarms.shared.set(at: moment) { [weak self] in
                guard let self, state.withLock({ $0.alarmFired() }) else { return }
                schedule(.now)
            }
        case nil: break
        }
    }

    /// Writes pending changes without delay, because the cache is being released. Any thread.
    func finish() {
        schedule(
            state.withLock { state in
                state.isReleased = true
                return state.claimBatch()
            })
    }

    /// Writes a batch, and schedules another one if changes are pending.
    func runBatch() {
        writeBatch(onlyLogs: false)
        schedule(state.withLock { $0.endBatch() })
    }

    /// Writes all changes up to this number.
    func writeChanges(upTo number: UInt64) {
        // With an empty queue, the folder may still have to be emptied.
        while state.withLock({ state in state.queue.first.map { $0.number <= number } ?? state.mustClear }) {
            writeBatch(onlyLogs: false)
        }
        // Logs the uses and evictions, from which the next process gets the order of use.
        writeBatch(onlyLogs: true)
    }

    /// Writes the next changes, up to the size of a batch.
    ///
    /// - Parameter onlyLogs: Whether to write no pending changes, but only to log uses and evictions.
    private func writeBatch(onlyLogs: Bool) {
        readFolderIndex()
        becomeWriter()
        let (work, capacity, clearCount) = state.withLock { state in
            (state.takeWork(upTo: onlyLogs ? 0 : Self.batchSize), state.diskCapacity, state.clearCount)
        }
        if work.isEmpty { return }
        if work.mustClear {
            folder.clear(capacity: capacity)
            let access = folder.access
            state.withLock { state in
                // The folder was to be emptied again meanwhile; the next batch does that.
                if state.clearCount != clearCount { return }
                state.mustClear = false
                // A reader cannot clear the folder before it becomes the writer.
                if access != .reader { state.removalsAsReader = access == .writer ? nil : PendingRemovals() }
            }
        }
        perform(work, capacity, clearCount)
        state.withLock { $0.evictFromFolder() }
        tidy(capacity, clearCount)
    }

    /// Becomes the folder's writer, if there is anything to write and the folder has no writer.
    private func becomeWriter() {
        guard folder.access == .reader, !state.withLock({ $0.hasNothingToWrite }),
            let index = folder.becomeWriter(capacity: diskCapacity)
        else { return }
        state.withLock { $0.takeOver(index, isWriter: true) }
    }

    // MARK: writing a batch

    /// Appends the entries of a batch, logs the changes and records them in the state. The changes are dropped if the state's
    /// `clearCount` is no longer the given one: the folder is to be emptied.
    private func perform(_ work: Work, _ capacity: Int, _ clearCount: Int) {
        if folder.lacksIndex { repairIndex() }
        let stored = append(work, capacity)
        let changes = state.withLock { state in
            state.clearCount == clearCount ? state.log(of: work, stored) : []
        }
        let isLogged = folder.log(changes)
        // The finished changes are returned to be released outside of the lock.
        _ = state.withLock { state in
            if state.clearCount != clearCount { return [] }
            // If the log was not written, the index must not refer to the entries either.
            return state.finish(work, isLogged ? stored : .init(repeating: nil, count: stored.count))
        }
        if !isLogged, folder.access == .writer { repairIndex() }
    }

    /// Appends the entries of a batch to the segments. Returns the item of each change; nil for a removal and for an entry that
    /// was not written.
    private func append(_ work: Work, _ capacity: Int) -> [CacheIndex.Item?] {
        var stored = [CacheIndex.Item?](repeating: nil, count: work.changes.count)
        if work.writeCount == 0 { return stored }
        var drafts: [(change: Int, terms: CacheTerms, storedTime: Date)] = []
        var lengths: [Int] = []
        var writer = OctetWriter(capacity: work.size + work.writeCount * CacheEntryFile.usualOverhead)
        for (change, (key, pending)) in work.changes.enumerated() {
            guard case .write(let entry, let request, let admission) = pending.change else { continue }
            let concealed = entry.concealed(by: conceal, for: request, identifying: entry.identifying)
            let start = writer.count
            guard let terms = terms.withLock({ $0.terms(of: concealed) }),
                CacheEntryFile.write(
                    concealed, terms: terms, digest: CacheEntryFile.digest(of: key.address), to: &writer)
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
        let locations = writer.withOctets(from: 0) { folder.append($0, lengths: lengths, capacity: capacity) }
        guard let locations else {
            // The folder may have been removed; the next batch then creates it again.
            resetIfRemoved()
            return stored
        }
        for (draft, location) in zip(drafts, locations) {
            stored[draft.change] = CacheIndex.Item(
                location: location, storedTime: draft.storedTime, terms: draft.terms)
        }
        return stored
    }

    /// Opens the folder and creates it if it is missing.
    private func openForWriting(_ capacity: Int) {
        if let index = folder.open(capacity: capacity, createsFolder: true) {
            let isWriter = folder.access == .writer
            state.withLock { $0.takeOver(index, isWriter: isWriter) }
        }
        folder.releaseInitialIndex()
    }

    /// Replaces the index file after a failed write, because it must not refer to entries that were replaced or removed. Empties
    /// the folder if the index cannot be replaced either.
    private func repairIndex() {
        if resetIfRemoved() { return }
        if folder.replaceIndex(state.withLock { $0.index.changes }) { return }
        folder.removeAllEntries()
        state.withLock { $0.index = CacheIndex() }
    }

    /// Starts with an empty index if another process or the user has removed the folder; returns false if the folder exists.
    @discardableResult
    private func resetIfRemoved() -> Bool {
        guard folder.closeIfRemoved() else { return false }
        state.withLock { state in
            state.index = CacheIndex()
            state.removalsAsReader = PendingRemovals()
        }
        return true
    }

    // MARK: tidying up

    /// Evicts entries from the folder until it is within its capacity.
    func evictFromFolder() {
        readFolderIndex()
        state.withLock { $0.evictFromFolder() }
        writeBatch(onlyLogs: true)
    }

    /// Removes unused segments, rewrites at most one segment that is mostly unused, and replaces an index with many obsolete
    /// changes. The moves are not recorded if the state's `clearCount` is no longer the given one.
    private func tidy(_ capacity: Int, _ clearCount: Int) {
        guard folder.access == .writer else { return }
        let (live, count) = state.withLock { ($0.index.live, $0.index.count) }
        folder.removeSegments(except: live)
        if let segment = folder.segmentToRewrite(capacity: capacity, live: live) {
            rewrite(segment, capacity, clearCount)
            folder.removeSegments(except: state.withLock { $0.index.live })
        }
        // If this fails, the old index remains, which describes the same entries.
        if folder.isIndexWorthRewriting(count) {
            _ = folder.replaceIndex(state.withLock { $0.index.changes })
        }
    }

    /// Moves the live entries of a segment to the current segment, and removes those that cannot be read from the index. The
    /// moves are not recorded if the state's `clearCount` is no longer the given one: the folder is to be emptied.
    private func rewrite(_ segment: UInt64, _ capacity: Int, _ clearCount: Int) {
        var moved: [(key: CacheKey, from: EntryLocation)] = []
        var octets: [UInt8] = []
        var lost: [CacheKey] = []
        for (key, item) in state.withLock({ $0.index.entries(in: segment) }) {
            guard let entry = folder.octets(at: item.location), entry.count == item.location.length else {
                lost.append(key)
                continue
            }
            moved.append((key, item.location))
            octets += entry
        }
        state.withLock { $0.removeFromIndex(lost) }
        guard
            let locations = folder.append(
                octets.span, lengths: moved.map(\.from.length), capacity: capacity),
            folder.log(zip(moved, locations).map { .moved($0.from.start, $1) })
        else { return }
        state.withLock { state in
            if state.clearCount != clearCount { return }
            for ((key, from), location) in zip(moved, locations) {
                _ = state.index.move(key, from: from, to: location)
            }
        }
    }
}
