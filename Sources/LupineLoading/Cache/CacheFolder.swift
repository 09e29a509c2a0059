// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS

/// The folder of a cache: one file for each entry, replaced and removed as a whole. Blocks; its callers are on the storage
/// queue, or are a program's own calls that may wait.
///
/// It remembers nothing and holds no lock. Several processes may use one folder: a file that is gone is a miss, and a name
/// says whose entry it is. The time of a file's last change is that of its last use, for the next process to go by.
struct CacheFolder: Sendable {
    /// A file of the folder.
    struct Item: Sendable {
        /// Whose entry it is.
        var name: CacheFileName
        /// How many octets it has.
        var size: Int
        /// When it was last used.
        var lastUse: Date
    }

    /// What became of a look for an entry.
    enum Found: Sendable {
        case entry(CacheEntry, size: Int)
        case nothing
        /// There is a file, and it is not an entry.
        case damage
    }

    private static let suffix = ".entry"
    /// A draft as old as this has no writer any more.
    private static let draftAge: TimeInterval = 600

    private let url: URL
    private let keyFile: SecretKeyFile

    /// - Parameters:
    ///   - url: The folder, which is made when something is written.
    ///   - keyFile: Where the key of the hash is that conceals secrets; not in the folder, so that whoever gets hold of
    ///     that alone cannot try what the secrets were.
    init(_ url: URL, keyFile: URL) {
        self.url = url
        self.keyFile = SecretKeyFile(keyFile)
    }

    /// The hash that conceals secrets in files.
    func hash() -> KeyedHash { KeyedHash(key: keyFile.key()) }

    private func file(_ name: CacheFileName) -> AtomicFile {
        AtomicFile(url.appendingPathComponent(name.description + Self.suffix, isDirectory: false))
    }

    /// The entries that are there, the one that has not been used for the longest time first. What writers left behind that
    /// were stopped in the middle goes.
    func items(at now: Date = Date()) -> [Item] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        var items: [Item] = []
        for fileName in names {
            if Self.isDraft(fileName) { removeDraft(fileName, at: now) }
            guard let name = Self.entryName(fileName), let item = item(name, fileName) else { continue }
            items.append(item)
        }
        return items.sorted { ($0.lastUse, $0.name) < ($1.lastUse, $1.name) }
    }

    private func item(_ name: CacheFileName, _ fileName: String) -> Item? {
        let path = url.appendingPathComponent(fileName).path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let size = attributes[.size] as? NSNumber, let changed = attributes[.modificationDate] as? Date
        else { return nil }
        return Item(name: name, size: size.intValue, lastUse: changed)
    }

    private func removeDraft(_ fileName: String, at now: Date) {
        let path = url.appendingPathComponent(fileName).path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let changed = attributes[.modificationDate] as? Date,
            now.timeIntervalSince(changed) > Self.draftAge
        else { return }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The name of the entry in a file; nil for a file that is not the cache's.
    private static func entryName(_ fileName: String) -> CacheFileName? {
        fileName.hasSuffix(suffix) ? CacheFileName(fileName.dropLast(suffix.count)) : nil
    }

    private static func isDraft(_ fileName: String) -> Bool {
        guard fileName.hasPrefix("."), let end = fileName.range(of: suffix + ".draft-") else { return false }
        return entryName(fileName.dropFirst()[..<end.lowerBound] + suffix) != nil
    }

    /// The entry of that name.
    func read(_ name: CacheFileName, upTo limit: Int) -> Found {
        let file = file(name)
        guard FileManager.default.fileExists(atPath: file.url.path) else { return .nothing }
        guard let data = file.read(upTo: limit), let digest = name.addressDigest,
            let entry = CacheEntryFile.entry(Array(data), digest: digest), name.names(entry)
        else { return FileManager.default.fileExists(atPath: file.url.path) ? .damage : .nothing }
        return .entry(entry, size: data.count)
    }

    /// When the entry of a name was stored; nil when there is none that is whole as far as its head goes.
    func storedTime(of name: CacheFileName) -> Date? {
        guard let digest = name.addressDigest, let handle = try? FileHandle.readingOwn(file(name).url) else {
            return nil
        }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: CacheEntryFile.headCount) else { return nil }
        return CacheEntryFile.head(Array(data), digest: digest)?.storedTime
    }

    /// Puts an entry's octets in place of those of its name; throws the error of the step that failed.
    func write(_ octets: [UInt8], name: CacheFileName) throws {
        // What the death of a machine leaves behind is told by the digest: there is nothing to wait for.
        try file(name).replace(with: Data(octets), outlivesPowerLoss: false)
    }

    /// Notes that an entry was used.
    func touch(_ name: CacheFileName, at now: Date = Date()) {
        try? FileManager.default.setAttributes([.modificationDate: now], ofItemAtPath: file(name).url.path)
    }

    /// Removes an entry.
    func remove(_ name: CacheFileName) { try? FileManager.default.removeItem(at: file(name).url) }

    /// Removes all entries, and what is left of those that were being written.
    func removeAll() {
        for fileName in (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        where Self.isDraft(fileName) || Self.entryName(fileName) != nil {
            try? FileManager.default.removeItem(at: url.appendingPathComponent(fileName))
        }
    }
}
