// SPDX-License-Identifier: MIT

/// The buffer between two codings of a stack: the bytes that the outer one has decoded and the inner one has not yet read.
///
/// It is filled only when it is empty, so nothing is ever moved in it.
final class CodingBuffer {
    static let size = 16 << 10

    private var bytes: [UInt8] = []
    private var unread = 0..<0

    /// Passes the unread bytes to `body`, which returns how many of them it read.
    func read(
        _ body: (Span<UInt8>) throws(CodingError) -> CodingStream.Progress
    ) throws(CodingError) -> CodingStream.Progress {
        let lent = bytes
        let progress = try body(lent.span.extracting(unread))
        unread = (unread.lowerBound + progress.consumed)..<unread.upperBound
        return progress
    }

    /// Passes the buffer to `body`, which returns how many bytes it wrote. Only when all bytes have been read.
    func refill(
        _ body: (inout MutableSpan<UInt8>) throws(CodingError) -> CodingStream.Progress
    ) throws(CodingError) -> CodingStream.Progress {
        precondition(unread.isEmpty, "refill of a buffer that is not empty")
        var lent: [UInt8] = []
        swap(&lent, &bytes)
        defer { swap(&lent, &bytes) }
        if lent.isEmpty { lent = [UInt8](repeating: 0, count: Self.size) }
        var room = lent.mutableSpan
        let progress = try body(&room)
        unread = 0..<progress.produced
        return progress
    }

    func removeAll() { unread = 0..<0 }
}
