// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// The folder of a cache: an index, which is a log (`CacheLog`), and segment files with the entries (`CacheEntryFormat`).
///
/// A folder has one writer at a time: the process that holds the lock on its lock file, as long as its cache exists. Other
/// processes are readers, which use the index that the folder had when they opened it; a reader becomes the writer when it has
/// changes to write and the lock is free. An entry is written before the index refers to it, and contains a checksum and its
/// address. So a crash, a full disk or a foreign file can lose entries but never produces false ones. Files are read
/// only if the user owns them and no other user can write to them, and are opened for writing without following a symbolic link.
/// Numbers read from files are range-checked.
///
/// The methods block, so they are called on the storage queue, or in a call of the program that may wait. `files` stays locked
/// during disk access. Only `read(_:key:)` reads the disk without this lock.
final class CacheFolder: Sendable {
    /// How the folder is opened.
    enum Access: Hashable, Sendable {
        /// The folder is not open, or does not exist.
        case none
        /// This process is the writer.
        case writer
        /// Another process is the writer.
        case reader
    }

    /// The result of reading an entry.
    enum ReadResult: Sendable {
        case entry(CacheEntry)
        /// The segment does not exist: the writer may have moved the entry and removed the segment.
        case missing
        /// The octets are not those of the entry.
        case damaged
    }

    /// A file that stays open as long as this object exists.
    final class OpenFile: Sendable {
        let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

        /// Opens the file with the closure. Returns nil if it throws or returns nil.
        init?(_ open: () throws(Errno) -> Descriptor?) {
            guard let descriptor = try? open() else { return nil }
            self.descriptor = descriptor
        }
    }

    /// The lock that the folder's writer holds.
    final class FolderLock: Sendable {
        private let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

        // Closing alone might not release the lock: a child process that is being started inherits the file for a moment.
        deinit { descriptor.unlock() }
    }

    /// The open files of the folder, and what is known about them.
    struct Files: Sendable {
        var access = Access.none
        /// The lock that makes this process the writer; nil for a reader.
        var lock: FolderLock?
        /// The index file, open for appending.
        var indexFile: OpenFile?
        /// The length of the index file in bytes.
        var indexLength = 0
        /// The number of changes in the index file.
        var changeCount = 0
        /// The current segment, whose number is `nextSegmentNumber - 1`, open for appending; nil before it is created and after a
        /// failure.
        var currentSegment: OpenFile?
        /// The lengths of the segments in bytes, by number.
        var segmentLengths: [UInt64: Int] = [:]
        /// The number of the next segment to create.
        var nextSegmentNumber: UInt64 = 0
        /// The index that the folder had when it was opened, until `releaseInitialIndex` is called.
        var initialIndex: CacheIndex?
    }

    let files = Lock(Files())
    /// The folder's path.
    let path: String
    private let keyFile: SecretKeyFile

    /// - Parameters:
    ///   - url: The folder, which is created when an entry is written.
    ///   - keyFile: The file with the key of the hash that conceals secrets. It is outside of the folder, so that nobody can test
    ///     guesses of a secret with a copy of the folder alone.
    init(_ url: URL, keyFile: URL) {
        path = url.path
        self.keyFile = SecretKeyFile(keyFile)
    }

    /// Returns the hash that conceals secrets in files. Reads its key, and creates the key file if it is missing.
    func hash() -> KeyedHash { KeyedHash(key: keyFile.key()) }

    /// Returns the path of a file in the folder.
    func path(_ name: CacheFolderName) -> String { path(name.text) }

    /// Returns the path of a file in the folder.
    func path(_ name: String) -> String { "\(path)/\(name)" }

    // MARK: reading

    /// Reads the entry at a location. `url` is the URL of the request, if there is one.
    func read(_ location: EntryLocation, key: CacheKey, url: URL?) -> ReadResult {
        guard let octets = octets(at: location) else { return .missing }
        return Self.entry(octets, key: key, url: url).map { .entry($0) } ?? .damaged
    }

    /// Returns the entry in these octets, if it is undamaged and belongs to this key.
    static func entry(_ octets: [UInt8], key: CacheKey, url: URL? = nil) -> CacheEntry? {
        guard let entry = CacheEntryFormat.entry(octets, address: key.address, url: url),
            entry.provenance.partition == key.partition
        else { return nil }
        return entry
    }

    /// Returns the octets at a location; nil if the user owns no such segment. Returns an empty array if the segment is too
    /// short, and fewer octets than the location has after a read error.
    func octets(at location: EntryLocation) -> [UInt8]? {
        guard let file = try? Descriptor.readingOwn(path: path(.segment(location.segment))),
            let length = try? file.fileSize()
        else { return nil }
        guard location.end <= length else { return [] }
        return file.octets(at: location.offset, count: location.length)
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
    /// Reads `count` octets at an offset in the file; fewer at the end of the file or after an error.
    fileprivate borrowing func octets(at offset: Int, count: Int) -> [UInt8] {
        var octets: [UInt8] = []
        while octets.count < count {
            var piece = [UInt8](repeating: 0, count: count - octets.count)
            var span = piece.mutableSpan
            guard case .bytes(let read)? = try? read(into: &span, at: Int64(offset) + Int64(octets.count))
            else { break }
            // Usually the first call reads everything, and nothing is copied.
            if read == count { return piece }
            octets += piece[..<read]
        }
        return octets
    }

    /// Writes all octets.
    borrowing func writeAll(_ octets: Span<UInt8>) throws(Errno) {
        var written = 0
        while written < octets.count {
            switch try write(octets.extracting(written..<octets.count)) {
            case .bytes(let count) where count > 0: written += count
            // Never happens with a regular file. Another attempt could repeat without end.
            case .bytes, .wouldBlock: throw .inputOutput
            }
        }
    }
}
