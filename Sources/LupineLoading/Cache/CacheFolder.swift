// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// The folder of a cache: an index, which is one log (`CacheLog`), and segment files with the entries (`CacheEntryFile`).
///
/// It has one writer at a time, the process that holds the lock of a file in it for as long as its cache lives. Others read what
/// is there when they begin; one of them becomes the writer when it has something to write and the lock is free. The octets of
/// entries are written before the index names them, and an entry says itself whether it is whole and whose it is; so a stop at
/// any moment, a full disk or a strange file costs entries and makes none. Files are opened as the user's own and without
/// following links, and numbers in them are believed as far as they are possible.
///
/// Blocks; its callers are on the storage queue, or are a program's own calls that may wait. Its lock is held while the disk is
/// waited for, but `read(_:key:)` does not take it.
final class CacheFolder: Sendable {
    /// How far the folder has been opened.
    enum Access: Hashable, Sendable {
        /// Nobody has looked, or there was no folder.
        case none
        case writer
        /// Another one writes.
        case reader
    }

    /// What became of a look for an entry.
    enum Found: Sendable {
        case entry(CacheEntry)
        /// The segment has gone: its writer may have put the entry elsewhere.
        case nothing
        /// What is there is not the entry.
        case damage
    }

    /// A file that is open as long as somebody has this.
    final class OpenFile: Sendable {
        let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

        /// Nil when there is none.
        init?(_ opened: () throws(Errno) -> Descriptor?) {
            guard let descriptor = try? opened() else { return nil }
            self.descriptor = descriptor
        }
    }

    /// The lock of the folder, which whoever writes there has.
    final class FolderLock: Sendable {
        private let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

        deinit { descriptor.unlock() }
    }

    /// What the folder's writer has open.
    struct Files: Sendable {
        var access = Access.none
        var lock: FolderLock?
        /// Open for appending.
        var index: OpenFile?
        /// How long the index is.
        var indexLength = 0
        /// How many changes are in it.
        var changeCount = 0
        /// Open for appending: the segment with the highest number.
        var segment: OpenFile?
        /// The segments and how long they are, as far as they are of use.
        var lengths: [UInt64: Int] = [:]
        /// The number of the next segment.
        var nextSegment: UInt64 = 0
        /// What was there when the folder was opened, until somebody has taken it over.
        var found: CacheIndex?
    }

    let files = Lock(Files())
    /// The folder's own.
    let path: String
    private let keyFile: SecretKeyFile

    /// - Parameters:
    ///   - url: The folder, which is made when something is written.
    ///   - keyFile: Where the key of the hash is that conceals secrets; not in the folder, so that whoever gets hold of
    ///     that alone cannot try what the secrets were.
    init(_ url: URL, keyFile: URL) {
        path = url.path
        self.keyFile = SecretKeyFile(keyFile)
    }

    /// The hash that conceals secrets in files.
    func hash() -> KeyedHash { KeyedHash(key: keyFile.key()) }

    func path(_ name: CacheFolderName) -> String { path(name.text) }

    func path(_ name: String) -> String { "\(path)/\(name)" }

    // MARK: reading

    /// The entry at a place.
    func read(_ place: CachePlace, key: CacheKey) -> Found {
        guard let octets = octets(at: place) else { return .nothing }
        return Self.entry(octets, key: key).map { .entry($0) } ?? .damage
    }

    /// The entry in these octets, if it is whole and the one of that key.
    static func entry(_ octets: [UInt8], key: CacheKey) -> CacheEntry? {
        let digest = CacheEntryFile.digest(of: key.address)
        guard let entry = CacheEntryFile.entry(octets, digest: digest), entry.provenance.party == key.party
        else { return nil }
        return entry
    }

    /// The octets at a place; nil when there is no such segment of the user's own. Too few when it is too short.
    func octets(at place: CachePlace) -> [UInt8]? {
        guard let file = try? Descriptor.readingOwn(path: path(.segment(place.segment))),
            let length = try? file.fileSize()
        else { return nil }
        guard place.end <= length else { return [] }
        return file.octets(at: place.offset, count: place.length)
    }

    /// The content of a file of the user's own; nil when there is none, or one that is longer.
    func content(_ name: CacheFolderName, upTo limit: Int) -> [UInt8]? {
        guard let file = try? Descriptor.readingOwn(path: path(name)), let length = try? file.fileSize(),
            let count = Int(exactly: length), count <= limit
        else { return nil }
        return count == 0 ? [] : file.octets(at: 0, count: count)
    }
}

extension Descriptor {
    /// So many octets of a file, or as many as there are.
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

    /// Writes all of it.
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
