// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// The folder of a cache: an index, which is a log (`CacheLog`), and segment files that hold the entries (`CacheEntryFile`).
///
/// A folder has one writer at a time: the process that holds the lock on its lock file, for as long as its cache lives. Other
/// processes are readers, which see what was there when they opened the folder; a reader becomes the writer when it has something
/// to write and the lock is free. An entry's octets are written before the index refers to them, and each entry carries its own
/// checksum and the digest of its key. So a crash, a full disk or a foreign file can lose entries but never produces false ones.
/// Files are read only if the user owns them and no other user can write to them, and are opened for writing without following a
/// symbolic link. Numbers read from them are range-checked.
///
/// Blocks: call it on the storage queue, or from a program's call that may wait. Its lock is held during disk access, but
/// `read(_:key:)` does not take the lock.
final class CacheFolder: Sendable {
    /// How the folder is opened.
    enum Access: Hashable, Sendable {
        /// Not opened yet, or there was no folder.
        case none
        case writer
        /// Another process is the writer.
        case reader
    }

    /// The result of reading an entry.
    enum Found: Sendable {
        case entry(CacheEntry)
        /// The segment no longer exists: the writer may have moved the entry.
        case nothing
        /// The octets are not the entry's.
        case damage
    }

    /// A file that stays open as long as this object exists.
    final class OpenFile: Sendable {
        let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

        /// Returns nil if the file could not be opened.
        init?(_ opened: () throws(Errno) -> Descriptor?) {
            guard let descriptor = try? opened() else { return nil }
            self.descriptor = descriptor
        }
    }

    /// The lock that the folder's writer holds.
    final class FolderLock: Sendable {
        private let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

        deinit { descriptor.unlock() }
    }

    /// The state of the opened folder.
    struct Files: Sendable {
        var access = Access.none
        var lock: FolderLock?
        /// Open for appending.
        var index: OpenFile?
        /// How long the index is.
        var indexLength = 0
        /// How many changes are in it.
        var changeCount = 0
        /// Open for appending: the segment with the highest number; nil before one is begun and after a failure.
        var segment: OpenFile?
        /// The segments and their lengths.
        var lengths: [UInt64: Int] = [:]
        /// The number of the next segment.
        var nextSegment: UInt64 = 0
        /// The index found when the folder was opened, until it is taken over.
        var found: CacheIndex?
    }

    let files = Lock(Files())
    /// The folder's path.
    let path: String
    private let keyFile: SecretKeyFile

    /// - Parameters:
    ///   - url: The folder, which is created when something is written.
    ///   - keyFile: The file with the key of the hash that conceals secrets. It is outside of the folder, so that the folder
    ///     alone does not allow guesses to be tested.
    init(_ url: URL, keyFile: URL) {
        path = url.path
        self.keyFile = SecretKeyFile(keyFile)
    }

    /// The hash that conceals secrets in files.
    func hash() -> KeyedHash { KeyedHash(key: keyFile.key()) }

    func path(_ name: CacheFolderName) -> String { path(name.text) }

    func path(_ name: String) -> String { "\(path)/\(name)" }

    // MARK: reading

    /// Reads the entry at a place.
    func read(_ place: EntryLocation, key: CacheKey) -> Found {
        guard let octets = octets(at: place) else { return .nothing }
        return Self.entry(octets, key: key).map { .entry($0) } ?? .damage
    }

    /// Returns the entry in these octets, if it is undamaged and belongs to this key.
    static func entry(_ octets: [UInt8], key: CacheKey) -> CacheEntry? {
        let digest = CacheEntryFile.digest(of: key.address)
        guard let entry = CacheEntryFile.entry(octets, digest: digest), entry.provenance.party == key.party
        else { return nil }
        return entry
    }

    /// Returns the octets at a place; nil if there is no such segment that the user owns. Too few octets if the segment is too
    /// short.
    func octets(at place: EntryLocation) -> [UInt8]? {
        guard let file = try? Descriptor.readingOwn(path: path(.segment(place.segment))),
            let length = try? file.fileSize()
        else { return nil }
        guard place.end <= length else { return [] }
        return file.octets(at: place.offset, count: place.length)
    }

    /// Returns the content of a file; nil if the user owns no such file, or if it is longer than the limit.
    func content(_ name: CacheFolderName, upTo limit: Int) -> [UInt8]? {
        guard let file = try? Descriptor.readingOwn(path: path(name)), let length = try? file.fileSize(),
            let count = Int(exactly: length), count <= limit
        else { return nil }
        return count == 0 ? [] : file.octets(at: 0, count: count)
    }
}

extension Descriptor {
    /// Reads up to `count` octets; fewer at the end of the file or after an error.
    fileprivate borrowing func octets(at offset: Int, count: Int) -> [UInt8] {
        var octets: [UInt8] = []
        while octets.count < count {
            var piece = [UInt8](repeating: 0, count: count - octets.count)
            var span = piece.mutableSpan
            guard case .bytes(let read)? = try? read(into: &span, at: Int64(offset) + Int64(octets.count))
            else { break }
            if read == count { return piece }
            octets += piece[..<read]
        }
        return octets
    }

    /// Writes all octets.
    borrowing func writeAll(_ octets: Span<UInt8>) throws(Errno) {
        var done = 0
        while done < octets.count {
            switch try write(octets.extracting(done..<octets.count)) {
            case .bytes(let count) where count > 0: done += count
            case .bytes, .wouldBlock: throw .inputOutput
            }
        }
    }
}
