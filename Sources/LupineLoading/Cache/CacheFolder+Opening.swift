// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Opens and cleans up the folder.
extension CacheFolder {
    /// The longest index that is read, for any capacity.
    private static let longestIndex = 1 << 30

    /// Opens the folder, as its writer if it has none, and returns its index. Returns nil if the folder was opened before and
    /// `forgetFound` was called.
    ///
    /// - Parameters:
    ///   - capacity: How many bytes may be in the folder.
    ///   - isMade: Whether to create a missing folder, because something is to be written. Otherwise a missing folder counts as
    ///     empty, and this may be called again.
    func open(capacity: Int, isMade: Bool) -> CacheIndex? {
        files.withLock { files -> CacheIndex? in
            guard files.access == .none else { return files.found }
            if isMade {
                try? FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
            guard FileManager.default.fileExists(atPath: path) else { return CacheIndex() }
            do throws(Errno) {
                if let lock = try Descriptor.locking(path: path(.lock)) { files.lock = FolderLock(lock) }
            } catch {
                // Descriptors may be available again at the next attempt.
                if error == .tooManyDescriptors || error == .tooManyDescriptorsInSystem {
                    return CacheIndex()
                }
            }
            files.access = files.lock == nil ? .reader : .writer
            let index = readIndex(capacity: capacity, &files)
            files.found = index
            return index
        }
    }

    /// Turns a reader into the writer, if the folder no longer has one, and returns the current index. Returns nil if the folder
    /// still has a writer, or if this is not a reader.
    func becomeWriter(capacity: Int) -> CacheIndex? {
        files.withLock { files -> CacheIndex? in
            guard files.access == .reader else { return nil }
            guard let lock = try? Descriptor.locking(path: path(.lock)) else { return nil }
            files.lock = FolderLock(lock)
            files.access = .writer
            return readIndex(capacity: capacity, &files)
        }
    }

    /// Reads the index. The folder's writer also opens the index for appending and removes obsolete files.
    private func readIndex(capacity: Int, _ files: inout Files) -> CacheIndex {
        let names = self.names
        var lengths = self.lengths(of: names)
        let limit = min(Self.longestIndex, (16 << 20) + min(capacity, Self.longestIndex) * 2)
        let contents = CacheLog.contents(of: content(.index, upTo: limit) ?? [])
        var index = CacheIndex(contents.changes, lengths: lengths)
        // No cache reaches such numbers; a forged index with them would leave no segment numbers for new entries.
        if index.live.keys.contains(where: { $0 > EntryLocation.segmentLimit / 2 }) { index = CacheIndex() }
        if files.access == .writer {
            for name in names where Self.isRest(name, index) { remove(name) }
            lengths = lengths.filter { index.live[$0.key] != nil }
            files.lengths = lengths
            files.nextSegment = (lengths.keys.max() ?? 0) + 1
            files.changeCount = contents.changes.count
            openIndex(index, at: contents.end, &files)
        }
        return index
    }

    /// Drops the index that `open` returned, once the caller has taken it over.
    func forgetFound() { files.withLock { $0.found = nil } }

    /// Closes a folder that was removed by somebody else, so that it can be opened anew; returns false if it still exists.
    func closeIfGone() -> Bool {
        files.withLock { files in
            if files.access == .none || FileManager.default.fileExists(atPath: path(.lock)) { return false }
            files = Files()
            return true
        }
    }

    /// Opens the index for appending at `end`, or replaces it if that is not possible.
    private func openIndex(_ found: CacheIndex, at end: Int, _ files: inout Files) {
        files.index = nil
        if end > 0, found.count > 0, let index = continuedIndex(at: end) {
            files.index = index
            files.indexLength = end
        } else {
            _ = replaceIndex(found.changes, &files)
        }
    }

    /// Opens the index for appending at `end` and truncates what follows.
    func continuedIndex(at end: Int) -> OpenFile? {
        OpenFile { () throws(Errno) in
            try Descriptor.continuing(path: path(.index), at: Int64(end))
        }
    }

    /// The names of the files in the folder that belong to the cache.
    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
            .filter { CacheFolderName($0) != nil }
    }

    private func lengths(of names: [String]) -> [UInt64: Int] {
        var lengths: [UInt64: Int] = [:]
        for name in names {
            guard case .segment(let number)? = CacheFolderName(name) else { continue }
            // Also counts names that are not our files: their numbers are taken.
            lengths[number] = 0
            guard let file = try? Descriptor.readingOwn(path: path(.segment(number))),
                let length = try? file.fileSize()
            else { continue }
            lengths[number] = Int(clamping: length)
        }
        return lengths
    }

    /// Whether the file is obsolete.
    private static func isRest(_ name: String, _ index: CacheIndex) -> Bool {
        switch CacheFolderName(name) {
        case .segment(let number)?: index.live[number] == nil
        case .indexDraft?, .former?: true
        case .lock?, .index?, nil: false
        }
    }

    /// Removes a file or a symbolic link, but not a folder.
    func remove(_ name: String) {
        let path = path(name)
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        if attributes?[.type] as? FileAttributeType == .typeDirectory { return }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Removes all files of the cache but the lock. Does nothing if another process is the writer.
    func clear(capacity: Int) {
        _ = open(capacity: capacity, isMade: false)
        forgetFound()
        files.withLock { files in
            guard files.access == .writer else { return }
            // The index first: an interruption then leaves only unreferenced segments.
            _ = replaceIndex([], &files)
            files.segment = nil
            files.lengths = [:]
            for name in names where CacheFolderName(name) != .lock && CacheFolderName(name) != .index {
                remove(name)
            }
        }
    }

    /// Whether this is the folder's writer and its index could not be opened or replaced.
    var lacksIndex: Bool { files.withLock { $0.access == .writer && $0.index == nil } }

    /// How the folder is opened.
    var access: Access { files.withLock { $0.access } }
}
