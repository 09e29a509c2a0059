// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Decides when a store's pending changes are written to its folder, in batches, which `CacheBatchWriter` writes. Runs on the
/// storage queue, except where a comment says otherwise.
///
/// One process at a time is the folder's writer; in other processes the folder is read only.
extension CacheStore {
    /// Reads the folder's index, unless it was read before. Any thread that may wait for the disk.
    func readFolderIndex() {
        let (hasReadFolder, capacity) = state.withLock { ($0.hasReadFolder, $0.diskCapacity) }
        if hasReadFolder { return }
        // Several threads may read the same index at a time; the state uses the first one.
        let index = folder.open(capacity: capacity, createsFolder: false)
        let isWriter = folder.access == .writer
        let batchStart = state.withLock { state in
            // Nil if another thread has set the index meanwhile.
            if let index { state.setInitialIndex(index, isWriter: isWriter) }
            return state.claimBatch()
        }
        folder.releaseInitialIndex()
        while state.withLock({ $0.evictFromFolder() }) {}
        schedule(batchStart)
    }

    /// The hash that conceals secrets in the folder. The first access reads its key from a file. Any thread that may wait for the
    /// disk.
    var folderHash: KeyedHash {
        if let hash = state.withLock({ $0.hash }) { return hash }
        let hash = folder.hash()
        state.withLock { $0.hash = hash }
        return hash
    }

    /// Schedules a batch that starts at this time; does nothing for nil. Any thread.
    func schedule(_ start: BatchStart?) {
        switch start {
        case .now: StorageQueue.run { self.runBatch() }
        case .at(let moment):
            // The alarm does not retain the store: `finish()` writes pending changes when the cache is released.
            // The alarm is never cancelled: `alarmFired()` returns false if the batch was queued before.
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

    /// Writes a batch, and schedules another one if changes remain.
    func runBatch() {
        CacheBatchWriter(store: self).writeBatch(onlyLogs: false)
        schedule(state.withLock { $0.endBatch() })
    }

    /// Writes all changes up to this number, and logs the uses and evictions. Ends early if the folder could not be emptied.
    func writeChanges(upTo number: UInt64) {
        func mustWriteBatch() -> Bool {
            state.withLock { state in
                // With an empty queue, the folder may still have to be emptied.
                guard let (_, nextNumber) = state.queue.first else { return state.mustClear }
                return nextNumber <= number
            }
        }
        while mustWriteBatch() {
            // If the folder could not be emptied, another attempt follows later.
            if !CacheBatchWriter(store: self).writeBatch(onlyLogs: false) { return }
        }
        // The next process gets the order of use from the log.
        CacheBatchWriter(store: self).writeBatch(onlyLogs: true)
    }

    /// Evicts entries from the folder until it is within its capacity, and logs the evictions.
    func evictFromFolder() {
        readFolderIndex()
        while state.withLock({ $0.evictFromFolder() }) {}
        // Logs the evictions; the pending changes wait for their own batch.
        CacheBatchWriter(store: self).writeBatch(onlyLogs: true)
    }
}
