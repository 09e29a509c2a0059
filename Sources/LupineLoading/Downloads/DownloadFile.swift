// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The temporary file of one download: made when there is something to store, for its owner only, and gone with the
/// download unless somebody takes it over (U-7.9).
///
/// Content goes into `target`, mostly by the kernel alone. One at a time, any thread.
struct DownloadFile: Sendable {
    /// Where it is.
    let path: String
    /// Where content goes.
    let target: FileTarget

    private static let prefix = "LupineDownload-"
    private static let suffix = ".tmp"

    /// Whether a file of a download's is called so.
    static func isName(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
            && UUID(uuidString: String(name.dropFirst(prefix.count).dropLast(suffix.count))) != nil
    }

    /// Makes an empty file in `folder`.
    static func new(in folder: URL) throws(Errno) -> DownloadFile {
        let path = folder.appendingPathComponent(prefix + UUID().uuidString + suffix).path
        return DownloadFile(path: path, target: FileTarget(try Descriptor.creating(path: path)))
    }

    /// Goes on with the first `offset` bytes of a file; throws where they are not there.
    static func continuing(_ path: String, at offset: Int64) throws(Errno) -> DownloadFile {
        DownloadFile(path: path, target: FileTarget(try Descriptor.continuing(path: path, at: offset)))
    }

    /// Whether the file has at least so many bytes, and can be gone on with: a download has made it, and nobody else.
    static func holds(_ count: Int64, at path: String) -> Bool {
        do throws(Errno) {
            _ = try Descriptor.made(path: path, holding: count)
            return true
        } catch { return false }
    }

    /// The place as a program gets it.
    var url: URL { URL(fileURLWithPath: path) }

    /// Removes it. One that was moved away is left where it is.
    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
