// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Opens, cleans up and empties the folder.
extension CacheFolder {
    /// The length of the longest index file that is read, for any capacity: 1 GiB. Keeps a forged file from filling the memory.
    private static let maxIndexLength = 1 << 30

    /// Opens the folder and returns its index. This process becomes the folder's writer if there is none. Returns nil if the
    /// folder was opened before and `releaseInitialIndex` was called: the caller then has the index already.
    ///
    /// - Parameters:
    ///   - capacity: How many bytes may be in the folder.
    ///   - createsFolder: Whether to create a missing folder. If not, a missing folder counts as empty and stays closed, so this
    ///     may be called again.
    func open(capacity: Int, createsFolder: Bool) -> CacheIndex? {
        files.withLock { files -> CacheIndex? in
            guard files.access == .none else { return files.initialIndex }
            if createsFolder {
                try? FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
            // A missing folder counts as empty.
            guard FileManager.default.fileExists(atPath: path) else { return CacheIndex() }
            do throws(Errno) {
                if let lock = try Descriptor.locking(path: path(.lock)) { files.lock = FolderLock(lock) }
            } catch {
                // With an empty index the folder stays closed, because a descriptor may be available at the next attempt.
                if error == .tooManyDescriptors || error == .tooManyDescriptorsInSystem {
                    return CacheIndex()
                }
            }
            // Without the lock, this process is a reader: another process holds the lock, or this process cannot create the file.
            files.access = files.lock == nil ? .reader : .writer
            let index = readIndex(capacity: capacity, &files)
            files.initialIndex = index
            return index
        }
    }

    /// Makes this process the folder's writer, if it is a reader and no other process is the writer. Returns the current index;
    /// nil if this process did not become the writer.
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
        let names = fileNames
        var lengths = segmentLengths(in: names)
        // The index of a full folder is much shorter than the capacity, but it may contain obsolete changes. So twice the
        // capacity, and 16 MiB for small folders, is more than a cache writes. The inner `min` prevents an overflow.
        let limit = min(Self.maxIndexLength, (16 << 20) + min(capacity, Self.maxIndexLength) * 2)
        let contents = CacheLog.contents(of: content(.index, upTo: limit) ?? [])
        var index = CacheIndex(contents.changes, lengths: lengths)
        // A forged index with segment numbers that no cache reaches would leave no numbers for new segments.
        if index.liveBytes.keys.contains(where: { $0 > EntryLocation.segmentLimit / 2 }) {
            index = CacheIndex()
        }
        if files.access == .writer {
            for name in names where Self.isObsolete(name, index) { remove(name) }
            lengths = lengths.filter { index.liveBytes[$0.key] != nil }
            files.segmentLengths = lengths
            files.nextSegmentNumber = (lengths.keys.max() ?? 0) + 1
            files.changeCount = contents.changes.count
            openIndex(index, at: contents.end, &files)
        }
        return index
    }

    /// Releases the folder's copy of the index that `open` has returned. The caller must have stored its own.
    func releaseInitialIndex() { files.withLock { $0.initialIndex = nil } }

    /// Closes the folder, so that it can be opened again, and returns true if another process or the user has removed the folder
    /// or its lock file. Otherwise returns false.
    func closeIfRemoved() -> Bool {
        files.withLock { files in
            if files.access == .none || FileManager.default.fileExists(atPath: path(.lock)) { return false }
            files = Files()
            return true
        }
    }

    /// Opens the index file for appending at `end`. Replaces a file that is invalid (`end` is 0), that cannot be opened, or whose
    /// changes are all obsolete (`index` is empty). If the replacement fails, `lacksIndex` is true, and the next batch tries to
    /// replace the file.
    private func openIndex(_ index: CacheIndex, at end: Int, _ files: inout Files) {
        files.indexFile = nil
        if end > 0, index.count > 0, let file = openIndexForAppending(at: end) {
            files.indexFile = file
            files.indexLength = end
        } else {
            _ = replaceIndex(index.changes, &files)
        }
    }

    /// Opens the index file for appending at `end`, and truncates the octets after it.
    func openIndexForAppending(at end: Int) -> OpenFile? {
        OpenFile { () throws(Errno) in
            try Descriptor.continuing(path: path(.index), at: Int64(end))
        }
    }

    /// The names of the files in the folder that belong to the cache.
    private var fileNames: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
            .filter { CacheFolderName($0) != nil }
    }

    /// Returns the lengths of the segments among the files with these names, by the number of the segment.
    private func segmentLengths(in names: [String]) -> [UInt64: Int] {
        var lengths: [UInt64: Int] = [:]
        for name in names {
            guard case .segment(let number)? = CacheFolderName(name) else { continue }
            // A file that cannot be read as a segment has the length 0: the index then leaves out its entries.
            lengths[number] = 0
            guard let file = try? Descriptor.readingOwn(path: path(.segment(number))),
                let length = try? file.fileSize()
            else { continue }
            lengths[number] = Int(clamping: length)
        }
        return lengths
    }

    /// Whether the folder's writer removes the file: a segment without entries, a leftover of an interrupted write, or a file of
    /// an earlier library version.
    private static func isObsolete(_ name: String, _ index: CacheIndex) -> Bool {
        switch CacheFolderName(name) {
        case .segment(let number)?: index.liveBytes[number] == nil
        case .indexDraft?, .legacyEntry?: true
        case .lock?, .index?, nil: false
        }
    }

    /// Removes all entries: all files of the cache except the lock file and an empty index. Does nothing if another process is
    /// the writer. Does not create the folder. Returns false if the folder exists and cannot be opened, so that its entries
    /// remain.
    func clear(capacity: Int) -> Bool {
        // Opens the folder only to become its writer; the index is not needed.
        _ = open(capacity: capacity, createsFolder: false)
        releaseInitialIndex()
        return files.withLock { files in
            switch files.access {
            case .none: return !FileManager.default.fileExists(atPath: path)
            case .reader: return true
            case .writer:
                removeAllEntries(&files)
                // Leftovers of an interrupted write, and files of an earlier library version.
                for name in fileNames where CacheFolderName(name) != .lock && CacheFolderName(name) != .index
                {
                    remove(name)
                }
                return true
            }
        }
    }

    /// Whether this is the folder's writer and its index could not be opened or replaced.
    var lacksIndex: Bool { files.withLock { $0.access == .writer && $0.indexFile == nil } }

    /// How the folder is opened.
    var access: Access { files.withLock { $0.access } }
}
