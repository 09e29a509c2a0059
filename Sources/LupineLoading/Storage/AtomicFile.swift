// SPDX-License-Identifier: MIT

package import Foundation
internal import Glibc

/// A file that is replaced as a whole: a reader sees either the old or the new content, also in another process, and after a
/// crash at any moment. All calls block, so they are made on a storage queue.
package struct AtomicFile: Sendable {
    /// The file's location.
    package let url: URL

    /// Creates a value for the file at this location, which need not exist yet.
    package init(_ url: URL) { self.url = url }

    /// Returns the content; nil when there is no file, when it has more than `limit` bytes, when it belongs to another user, or
    /// when other users can write to it: the library trusts the cookies, keys and responses in its files.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that the file may have.
    ///   - mayBePipe: Whether the file may be a pipe of the user; reading a pipe waits for its writer.
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
    ///   - outlivesPowerLoss: Whether to wait until the content is on the disk. If false, the file is certain to survive only the
    ///     death of the process, and readers have to be able to detect an incomplete file.
    package func replace(with data: Data, outlivesPowerLoss: Bool = true) throws {
        try write(data, outlivesPowerLoss: outlivesPowerLoss) { draft in
            // `rename` replaces the file in one step; Foundation's functions move the old file away first.
            guard unsafe rename(draft.path, url.path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        }
    }

    /// Creates the file with this content. Throws, and changes nothing, when the file exists already.
    package func create(with data: Data) throws {
        try write(data, outlivesPowerLoss: true) { draft in
            try FileManager.default.linkItem(at: draft, to: url)
            try? FileManager.default.removeItem(at: draft)
        }
    }

    /// Writes a draft in the same folder, and lets `place` move it to `url`.
    private func write(_ data: Data, outlivesPowerLoss: Bool, place: (URL) throws -> Void) throws {
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
