// SPDX-License-Identifier: MIT

package import Foundation
internal import Glibc

/// A file that is replaced as a whole: a reader, also one in another process, sees the old content or the new one, and
/// so does whoever comes after a crash at any moment. Blocks; call it on a storage queue.
package struct AtomicFile: Sendable {
    /// Where the file is.
    package let url: URL

    /// The file at that place, which need not exist yet.
    package init(_ url: URL) { self.url = url }

    /// The content; nil when there is no file, or one of more than `limit` bytes, or one that is another user's or that others
    /// can write to: cookies, keys and stored answers are believed.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that it may have.
    ///   - mayBePipe: Whether a pipe of the user's will do, which is waited for.
    package func read(upTo limit: Int, mayBePipe: Bool = false) -> Data? {
        guard let handle = try? FileHandle.readingOwn(url, mayBePipe: mayBePipe) else { return nil }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: limit + 1), data.count <= limit else { return nil }
        return data
    }

    /// Replaces the content. The file and a folder that has to be made for it are for their owner only.
    ///
    /// Throws the error of the step that failed; the old content is then still there.
    ///
    /// - Parameters:
    ///   - data: The new content.
    ///   - outlivesPowerLoss: Whether to wait until the content is on the disk itself. Without that only the death of the
    ///     process is survived for certain, and whoever reads the file has to be able to tell that it is whole.
    package func replace(with data: Data, outlivesPowerLoss: Bool = true) throws {
        try write(data, outlivesPowerLoss: outlivesPowerLoss) { draft in
            // Only rename replaces in one step; Foundation moves aside first.
            guard unsafe rename(draft.path, url.path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        }
    }

    /// Makes the file with this content; throws when there is one already, which is then left as it is.
    package func create(with data: Data) throws {
        try write(data, outlivesPowerLoss: true) { draft in
            try FileManager.default.linkItem(at: draft, to: url)
            try? FileManager.default.removeItem(at: draft)
        }
    }

    /// Writes a draft beside the file and has it put in place.
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

    /// Removes what writers left behind that were stopped in the middle, if it is older than `age` seconds.
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
