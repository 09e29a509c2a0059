// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The temporary file of a download (U-7.9). It is created when the response arrives, and accessible to its owner only. It is
/// removed at the end of the download, unless the program has moved it or may resume the download.
///
/// Content is written to `target`. Mostly the kernel moves it there from the socket (splicing). Any thread may use the file, one
/// at a time.
struct DownloadFile: Sendable {
    /// The path of the file.
    let path: String
    /// The open file, to which content is written.
    let target: FileTarget

    private static let prefix = "LupineDownload-"
    private static let suffix = ".tmp"

    /// Whether this is the name of a download's file.
    static func isDownloadFileName(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
            && UUID(uuidString: String(name.dropFirst(prefix.count).dropLast(suffix.count))) != nil
    }

    /// Creates an empty file in `folder`.
    static func create(in folder: URL) throws(Errno) -> DownloadFile {
        let path = folder.appendingPathComponent(prefix + UUID().uuidString + suffix).path
        return DownloadFile(path: path, target: FileTarget(try Descriptor.creating(path: path)))
    }

    /// Opens a file to append content after its first `offset` bytes, and removes the bytes after them. Throws if the file is
    /// shorter.
    static func open(_ path: String, appendingAt offset: Int64) throws(Errno) -> DownloadFile {
        DownloadFile(path: path, target: FileTarget(try Descriptor.continuing(path: path, at: offset)))
    }

    /// Whether the download of the file can be resumed. It has to be a regular file that only its owner may access, as a download
    /// creates it, with at least `count` bytes.
    static func hasBytes(_ count: Int64, at path: String) -> Bool {
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
