// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// How a cache's folder is opened and tidied up.
extension CacheFolder {
    /// The longest index that is read, whatever the capacity.
    private static let longestIndex = 1 << 30

    /// Reads what is in the folder, as its writer if it has none. Nil when that was done before, and `forgetFound` called.
    ///
    /// - Parameters:
    ///   - capacity: How much may be in it.
    ///   - isMade: Whether the folder is made if there is none, because something is to be written. Otherwise one that is not
    ///     there counts as empty, and this may be called again.
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
                // There may be descriptors again when something is to be written.
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

    /// Makes a reader the writer, if the folder has none any more, and reads what is in it by now. Nil when it has one, or when
    /// this was no reader.
    func becomeWriter(capacity: Int) -> CacheIndex? {
        files.withLock { files -> CacheIndex? in
            guard files.access == .reader else { return nil }
            guard let lock = try? Descriptor.locking(path: path(.lock)) else { return nil }
            files.lock = FolderLock(lock)
            files.access = .writer
            return readIndex(capacity: capacity, &files)
        }
    }

    /// Reads the index; the folder's writer also opens it to write on, and removes what nobody needs any more.
    private func readIndex(capacity: Int, _ files: inout Files) -> CacheIndex {
        let names = self.names
        var lengths = self.lengths(of: names)
        let limit = min(Self.longestIndex, (16 << 20) + min(capacity, Self.longestIndex) * 2)
        let contents = CacheLog.contents(of: content(.index, upTo: limit) ?? [])
        var index = CacheIndex(contents.changes, lengths: lengths)
        // No cache comes as far as that; whoever wrote it leaves no numbers for more.
        if index.live.keys.contains(where: { $0 > CachePlace.segmentLimit / 2 }) { index = CacheIndex() }
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

    /// What was found has been taken over.
    func forgetFound() { files.withLock { $0.found = nil } }

    /// Lets go of a folder that somebody has removed, so that it may be opened anew; false when it is there.
    func closeIfGone() -> Bool {
        files.withLock { files in
            if files.access == .none || FileManager.default.fileExists(atPath: path(.lock)) { return false }
            files = Files()
            return true
        }
    }

    /// Opens the index to write on from there, or begins a new one where that is not possible.
    private func openIndex(_ found: CacheIndex, at end: Int, _ files: inout Files) {
        files.index = nil
        if end > 0, found.count > 0, let index = continuedIndex(at: end) {
            files.index = index
            files.indexLength = end
        } else {
            _ = replaceIndex(found.changes, &files)
        }
    }

    /// The index, open to be written on from there; what stands behind that is cut off.
    func continuedIndex(at end: Int) -> OpenFile? {
        OpenFile { () throws(Errno) in
            try Descriptor.continuing(path: path(.index), at: Int64(end))
        }
    }

    /// The names of the files that are the cache's.
    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
            .filter { CacheFolderName($0) != nil }
    }

    private func lengths(of names: [String]) -> [UInt64: Int] {
        var lengths: [UInt64: Int] = [:]
        for name in names {
            guard case .segment(let number)? = CacheFolderName(name) else { continue }
            // Also those that are no files of ours: their numbers are taken.
            lengths[number] = 0
            guard let file = try? Descriptor.readingOwn(path: path(.segment(number))),
                let length = try? file.fileSize()
            else { continue }
            lengths[number] = Int(clamping: length)
        }
        return lengths
    }

    /// Whether nobody needs the file any more.
    private static func isRest(_ name: String, _ index: CacheIndex) -> Bool {
        switch CacheFolderName(name) {
        case .segment(let number)?: index.live[number] == nil
        case .indexDraft?, .former?: true
        case .lock?, .index?, nil: false
        }
    }

    /// Removes a file, or a link to one; folders are left alone.
    func remove(_ name: String) {
        let path = path(name)
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        if attributes?[.type] as? FileAttributeType == .typeDirectory { return }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Removes everything that is the cache's but the lock. Does nothing where another one writes.
    func clear(capacity: Int) {
        _ = open(capacity: capacity, isMade: false)
        forgetFound()
        files.withLock { files in
            guard files.access == .writer else { return }
            // First the index: a stop in between leaves segments that nothing refers to.
            _ = replaceIndex([], &files)
            files.segment = nil
            files.lengths = [:]
            for name in names where CacheFolderName(name) != .lock && CacheFolderName(name) != .index {
                remove(name)
            }
        }
    }

    /// Whether the folder's writer could not write the index the last time.
    var lacksIndex: Bool { files.withLock { $0.access == .writer && $0.index == nil } }

    /// Whether this is the folder's writer.
    var access: Access { files.withLock { $0.access } }
}
