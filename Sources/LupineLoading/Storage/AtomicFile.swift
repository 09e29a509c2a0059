// SPDX-License-Identifier: MIT

package import Foundation
internal import Glibc

/// A file that is replaced as a whole: a reader, even in another process or after a crash at any moment, sees either the old or
/// the new content. All calls block, so they must not be made on an event loop.
package struct AtomicFile: Sendable {
    /// The file's location.
    package let url: URL

    /// Creates a value for the file at this location, which need not exist yet.
    package init(_ url: URL) { self.url = url }

    /// Returns the content; nil when there is no file, or when it has more than `limit` bytes. Also returns nil when the file
    /// belongs to another user or when other users can write to it, because the library trusts the cookies, keys and responses in
    /// its files.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that the file may have.
    ///   - allowsPipe: Whether the file may be a pipe that belongs to the user; reading a pipe waits for its writer.
    package func read(upTo limit: Int, allowsPipe: Bool = false) -> Data? {
        guard let handle = try? FileHandle.readingOwn(url, allowsPipe: allowsPipe) else { return nil }
        defer { try? handle.close() }
        // Reads one byte more than allowed, to detect a file that is too long.
        guard let data = try? handle.read(upToCount: limit + 1), data.count <= limit else { return nil }
        return data
    }

    /// Replaces the content. The file, and a folder that is created for it, are accessible to their owner only. If this throws,
    /// the old content is unchanged.
    ///
    /// - Parameters:
    ///   - data: The new content.
    ///   - outlivesPowerLoss: Whether to wait until the content is on the disk. If false, the new content survives the death of
    ///     the process, but perhaps not a power loss: readers then have to detect an incomplete file.
    package func replace(with data: Data, outlivesPowerLoss: Bool = true) throws {
        try write(data, outlivesPowerLoss: outlivesPowerLoss) { draft in
            // `rename` replaces the file atomically; Foundation's functions move the old file away first.
            guard unsafe rename(draft.path, url.path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        }
    }

    /// Creates the file with this content. If the file exists already, throws and changes nothing.
    package func create(with data: Data) throws {
        try write(data, outlivesPowerLoss: true) { draft in
            // Unlike `rename`, a link never replaces a file.
            try FileManager.default.linkItem(at: draft, to: url)
            try? FileManager.default.removeItem(at: draft)
        }
    }

    /// Writes a draft, a new file in the same folder with the content, and calls `moveDraft` to move it to `url`. Removes the
    /// draft after an error.
    private func write(_ data: Data, outlivesPowerLoss: Bool, moveDraft: (URL) throws -> Void) throws {
        let folder = url.deletingLastPathComponent()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let draft = folder.appendingPathComponent(Self.draftPrefix(url) + UUID().uuidString)
        let handle = try FileHandle.creating(draft)
        do {
            defer { try? handle.close() }
            try handle.write(contentsOf: data)
            // The content must be on the disk before the file gets its name.
            if outlivesPowerLoss { try handle.synchronize() }
            try moveDraft(draft)
        } catch {
            try? FileManager.default.removeItem(at: draft)
            throw error
        }
    }

    /// Removes the drafts that are older than `age` seconds: a process has died during `write` and left them.
    package func removeDrafts(olderThan age: TimeInterval = 600, at now: Date = Date()) {
        let folder = url.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(Self.draftPrefix(url)) {
            let path = folder.appendingPathComponent(name).path
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard let modificationDate = attributes?[.modificationDate] as? Date,
                now.timeIntervalSince(modificationDate) > age
            else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// The beginning of the names of the drafts for a file.
    private static func draftPrefix(_ url: URL) -> String { "." + url.lastPathComponent + ".draft-" }
}
