// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The temporary file of a download: created when the response arrives, accessible to its owner only, and removed at the end of
/// the download unless the program has moved it or may resume the download (U-7.9).
///
/// Content is written to `target`, mostly by splicing in the kernel. Any thread may use the file, one at a time.
struct DownloadFile: Sendable {
    /// The path of the file.
    let path: String
    /// The target for content.
    let target: FileTarget

    private static let prefix = "LupineDownload-"
    private static let suffix = ".tmp"

    /// Whether this is the name of a download's file.
    static func isName(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
            && UUID(uuidString: String(name.dropFirst(prefix.count).dropLast(suffix.count))) != nil
    }

    /// Creates an empty file in `folder`.
    static func new(in folder: URL) throws(Errno) -> DownloadFile {
        let path = folder.appendingPathComponent(prefix + UUID().uuidString + suffix).path
        return DownloadFile(path: path, target: FileTarget(try Descriptor.creating(path: path)))
    }

    /// Opens a file to append after its first `offset` bytes; throws if the file is shorter.
    static func continuing(_ path: String, at offset: Int64) throws(Errno) -> DownloadFile {
        DownloadFile(path: path, target: FileTarget(try Descriptor.continuing(path: path, at: offset)))
    }

    /// Whether the file was created by a download and has at least `count` bytes, so that the download can be resumed.
    static func holds(_ count: Int64, at path: String) -> Bool {
        do throws(Errno) {
            _ = try Descriptor.existing(path: path, holding: count)
            return true
        } catch { return false }
    }

    /// The URL of the file.
    var url: URL { URL(fileURLWithPath: path) }

    /// Removes the file at its original path; a moved file is not affected.
    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
