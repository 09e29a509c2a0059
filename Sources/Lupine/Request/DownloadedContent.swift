// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// The file of a download on its way into memory.
///
/// How much may be read is the session's to say, which `serializeDownload` is not told of: the request sets it around the call.
enum DownloadedContent {
    /// The limit of the session whose download is being serialized.
    @TaskLocal static var limit = CollectedBodyLimit.standard

    /// What the file holds. Throws what reading throws, and the limit's error.
    static func read(_ file: URL, of source: URL?) throws -> Data {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        guard try handle.seekToEnd() <= UInt64(limit.bytes) else { throw limit.error(of: source) }
        return try Data(contentsOf: file)
    }
}

extension Request {
    /// The limit of the request's session; the standard one where the session has gone.
    var collectedBodyLimit: CollectedBodyLimit {
        (delegate as? Session)?.session.collectedBodyLimit ?? .standard
    }

    /// Fails the request: more has been gathered for a sequence that nobody iterates than is collected.
    func fail(_ limit: CollectedBodyLimit) {
        if error == nil {
            error = .sessionTaskFailed(error: limit.error(of: lastRequest?.url))
        }
        cancel()
    }
}
