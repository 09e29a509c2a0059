// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// Reads the file of a download into memory.
///
/// The session sets the limit. `serializeDownload` has no parameter for it, so the request binds it as a task-local value around
/// the call.
enum DownloadedContent {
    /// The limit of the session whose download is being serialized.
    @TaskLocal static var limit = CollectedBodyLimit.standard

    /// Returns the content of the file. Throws the limit's error if the file is too long, and errors of reading.
    static func read(_ file: URL, of source: URL?) throws -> Data {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        guard try handle.seekToEnd() <= UInt64(limit.bytes) else { throw limit.error(of: source) }
        return try Data(contentsOf: file)
    }
}
