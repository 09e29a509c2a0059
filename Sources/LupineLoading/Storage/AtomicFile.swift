// SPDX-License-Identifier: MIT

package import Foundation
internal import Glibc

/// A file that is replaced as a whole: any reader, also in another process and after a crash at any moment, sees either the old
/// or the new content. Blocks; call it on a storage queue.
package struct AtomicFile: Sendable {
    /// The file's location.
    package let url: URL

    /// The file at this location, which need not exist yet.
    package init(_ url: URL) { self.url = url }

    /// Returns the content; nil when there is no file, when it has more than `limit` bytes, or when it belongs to another user or
    /// others can write to it: the cookies, keys and stored responses in it are trusted.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that the file may have.
    ///   - mayBePipe: Whether a pipe of the user's is accepted; reading it may block.
    package func read(upTo limit: Int, mayBePipe: Bool = false) -> Data? {
        guard let handle = try? FileHandle.readingOwn(url, mayBePipe: mayBePipe) else { return nil }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: limit + 1), data.count <= limit else { return nil }
        return data
    }

    /// Replaces the content. The file, and a folder that is created for it, are accessible to their owner only.
    ///
    /// Throws the error of the step that failed; the old content is then unchanged.
    ///
    /// - Parameters:
    ///   - data: The new content.
    ///   - outlivesPowerLoss: Whether to wait until the content is on the disk. If false, the file survives only the death of the
    ///     process for certain, and readers have to be able to detect an incomplete file.
    package func replace(with data: Data, outlivesPowerLoss: Bool = true) throws {
        try write(data, outlivesPowerLoss: outlivesPowerLoss) { draft in
            // `rename` replaces in one step; Foundation moves the old file away first.
            guard unsafe rename(draft.path, url.path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        }
    }

    /// Creates the file with this content; throws when it exists already, and leaves it as it is.
    package func create(with data: Data) throws {
        try write(data, outlivesPowerLoss: true) { draft in
            try FileManager.default.linkItem(at: draft, to: url)
            try? FileManager.default.removeItem(at: draft)
        }
    }

    /// Writes a draft beside the file and lets `place` put it in place.
    private func write(_ data: Data, outlivesPowerLoss: Bool, place: (URL) throws -> Void) throws {
        let folder = url.deletingLastPathComponent()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let draft = folder.appendingPathComponent(Self.draftPrefix(url) + UUID().uuidString)
        let handle = try FileHandle.creating(draft)
        do {
            defer { try? handle.close() }
            try handle.write(contentsOf: data)
            // The content has to be on the disk before the name is.
            if outlivesPowerLoss { try handle.synchronize() }
            try place(draft)
        } catch {
            try? FileManager.default.removeItem(at: draft)
            throw error
        }
    }

    /// Removes the drafts of interrupted writers that are older than `age` seconds.
    package func removeDrafts(olderThan age: TimeInterval = 600, at now: Date = Date()) {
        let folder = url.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(Self.draftPrefix(url)) {
            let path = folder.appendingPathComponent(name).path
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard let changed = attributes?[.modificationDate] as? Date,
                now.timeIntervalSince(changed) > age
            else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    private static func draftPrefix(_ url: URL) -> String { "." + url.lastPathComponent + ".draft-" }
}
