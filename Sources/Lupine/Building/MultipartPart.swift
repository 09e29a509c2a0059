// SPDX-License-Identifier: MIT

import Foundation

/// One part of a form: its headers, and content that is read once, or again after a `rewind()`. Used by one thread at a time.
final class MultipartPart {
    /// Where the content comes from.
    enum Content {
        case data(Data)
        /// A file, by the stream that reads it next.
        case file(URL, InputStream)
        case stream(InputStream)
    }

    let headers: MultipartPartHeaders
    /// The number of bytes that was announced.
    let length: UInt64
    var isFirst = false
    var isLast = false
    private var content: Content
    private var isRead = false

    init(headers: MultipartPartHeaders, content: Content, length: UInt64) {
        self.headers = headers
        self.content = content
        self.length = length
    }

    /// Reads the content piece by piece, at most `limit` bytes, and gives it to `take`; says how many bytes there were.
    ///
    /// Pieces that start behind `end` are counted and not taken, and the reading ends when there are too many of them: a
    /// stream without an end does not make it go on for ever.
    func read(
        upTo limit: UInt64, stopBehind end: UInt64 = .max, _ take: (Data) throws -> Void
    ) throws -> UInt64 {
        if isRead { return 0 }
        isRead = true
        switch content {
        case .data(let data):
            try take(data)
            return UInt64(data.count)
        case .file(_, let stream), .stream(let stream):
            return try read(InputStreamReader(stream), upTo: limit, stopBehind: end, take)
        }
    }

    /// Has the content read from its beginning the next time. False for a stream that was read: it is spent.
    func rewind() -> Bool {
        guard isRead else { return true }
        switch content {
        case .data: break
        case .file(let url, _):
            guard let stream = InputStream(url: url) else { return false }
            content = .file(url, stream)
        case .stream: return false
        }
        isRead = false
        return true
    }

    private func read(
        _ reader: InputStreamReader, upTo limit: UInt64, stopBehind end: UInt64, _ take: (Data) throws -> Void
    ) throws -> UInt64 {
        defer { reader.close() }
        var total: UInt64 = 0
        while total < limit {
            let piece: Data
            do {
                piece = try reader.next(atMost: Int(clamping: limit - total))
            } catch {
                throw AFError.multipartEncodingFailed(reason: .inputStreamReadFailed(error: error))
            }
            if piece.isEmpty { break }
            if total < end { try take(piece) }
            total += UInt64(piece.count)
            if total > end, total - end >= UInt64(InputStreamReader.pieceLimit) { break }
        }
        return total
    }
}
