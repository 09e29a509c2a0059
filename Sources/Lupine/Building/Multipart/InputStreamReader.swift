// SPDX-License-Identifier: MIT

import Foundation

/// Reads an `InputStream` in chunks. A read blocks the calling thread for as long as the stream blocks.
final class InputStreamReader {
    /// The error that is thrown if the stream fails and its `streamError` is nil.
    struct Unreadable: Error {}

    /// The maximum size of a chunk in bytes.
    static let maximumChunkSize = 256 << 10

    private let stream: InputStream

    /// Creates a reader and opens the stream, unless it is open.
    init(_ stream: InputStream) {
        self.stream = stream
        if stream.streamStatus == .notOpen { stream.open() }
    }

    /// Returns the next chunk, of at most `limit` bytes; empty at the end and for a closed stream. Throws the stream's error.
    func next(atMost limit: Int) throws -> Data {
        // `streamError` is read only after a failure: on Linux, reading it traps if there is no error.
        switch stream.streamStatus {
        case .closed: return Data()
        case .error: throw stream.streamError ?? Unreadable()
        case _: break
        }
        var chunk = Data(count: min(limit, Self.maximumChunkSize))
        let count = unsafe chunk.withUnsafeMutableBytes { bytes in
            guard let start = unsafe bytes.bindMemory(to: UInt8.self).baseAddress else { return 0 }
            return unsafe stream.read(start, maxLength: bytes.count)
        }
        guard count >= 0 else { throw stream.streamError ?? Unreadable() }
        return chunk.prefix(count)
    }

    func close() { stream.close() }
}
