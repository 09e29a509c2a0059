// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// Reads the file of a download into memory, unless it is longer than the session's limit.
///
/// `serializeDownload` has no parameter for the limit, so the request binds it as a task-local value around the call.
enum DownloadedContent {
    /// The limit of the session whose download is being serialized.
    @TaskLocal static var limit = CollectedBodyLimit.standard

    /// Returns the content of the file. Throws if the file cannot be read, and the limit's error if it is too long. `source` is
    /// the URL of the download, which that error names.
    static func read(_ file: URL, of source: URL?) throws -> Data {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        // The offset of the end is the length of the file.
        let length = try handle.seekToEnd()
        guard length <= UInt64(limit.bytes) else { throw limit.error(of: source) }
        return try Data(contentsOf: file)
    }
}
