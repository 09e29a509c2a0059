// SPDX-License-Identifier: MIT

import Foundation

/// A part of a multipart form: its headers and its content. The content can be read once, and once more after each `rewind()`.
/// Used by one thread at a time.
final class MultipartPart {
    /// The source of the content.
    enum Content {
        case data(Data)
        /// The URL of a file, and the stream that reads it next.
        case file(URL, InputStream)
        case stream(InputStream)
    }

    let headers: MultipartPartHeaders
    /// The number of bytes that was passed to `append`.
    let length: UInt64
    /// Whether the part is the first one of its form.
    var isFirst = false
    /// Whether the part is the last one of its form.
    var isLast = false
    private var content: Content
    private var hasBeenRead = false

    init(headers: MultipartPartHeaders, content: Content, length: UInt64) {
        self.headers = headers
        self.content = content
        self.length = length
    }

    /// Reads the content in chunks, at most `limit` bytes, and calls `body` with each chunk. Returns the number of bytes read; 0
    /// if the content has been read already.
    ///
    /// Chunks that start at or after the offset `end` are counted, but not passed to `body`. Reading stops when at least
    /// `maximumChunkSize` bytes beyond `end` have been read, so that an endless stream does not block the encoding forever.
    func read(
        upTo limit: UInt64, stoppingAfter end: UInt64 = .max, _ body: (Data) throws -> Void
    ) throws -> UInt64 {
        if hasBeenRead { return 0 }
        hasBeenRead = true
        switch content {
        case .data(let data):
            // `length` is the size of the data, so neither `limit` nor `end` applies.
            try body(data)
            return UInt64(data.count)
        case .file(_, let stream), .stream(let stream):
            return try read(InputStreamReader(stream), upTo: limit, stoppingAfter: end, body)
        }
    }

    /// Makes the content readable again, from its beginning. Returns false for a stream that has been read, and for a file that
    /// cannot be opened.
    func rewind() -> Bool {
        guard hasBeenRead else { return true }
        switch content {
        case .data: break
        case .file(let url, _):
            guard let stream = InputStream(url: url) else { return false }
            content = .file(url, stream)
        case .stream: return false
        }
        hasBeenRead = false
        return true
    }

    /// Reads a stream as `read(upTo:stoppingAfter:_:)` does, and closes it.
    private func read(
        _ reader: InputStreamReader, upTo limit: UInt64, stoppingAfter end: UInt64,
        _ body: (Data) throws -> Void
    ) throws -> UInt64 {
        defer { reader.close() }
        var total: UInt64 = 0
        while total < limit {
            let chunk: Data
            do {
                chunk = try reader.next(atMost: Int(clamping: limit - total))
            } catch {
                throw AFError.multipartEncodingFailed(reason: .inputStreamReadFailed(error: error))
            }
            if chunk.isEmpty { break }
            if total < end { try body(chunk) }
            total += UInt64(chunk.count)
            if total > end, total - end >= UInt64(InputStreamReader.maximumChunkSize) { break }
        }
        return total
    }
}
