// SPDX-License-Identifier: MIT

/// The buffer between two codings of a stack: it holds bytes that the outer coding has decoded and the inner one has not read
/// yet.
///
/// It is filled only when it is empty, so its bytes never have to be moved.
final class CodingBuffer {
    /// The capacity in bytes.
    static let size = 16 << 10

    private var bytes: [UInt8] = []
    /// The range of the bytes that have not been read yet.
    private var unread = 0..<0

    /// Passes the unread bytes to `body`, which returns how many of them it read.
    func read(
        _ body: (Span<UInt8>) throws(CodingError) -> CodingStream.Progress
    ) throws(CodingError) -> CodingStream.Progress {
        let contents = bytes
        let progress = try body(contents.span.extracting(unread))
        unread = (unread.lowerBound + progress.consumed)..<unread.upperBound
        return progress
    }

    /// Passes the buffer to `body`, which returns how many bytes it wrote.
    ///
    /// - Precondition: all bytes have been read.
    func refill(
        _ body: (inout MutableSpan<UInt8>) throws(CodingError) -> CodingStream.Progress
    ) throws(CodingError) -> CodingStream.Progress {
        precondition(unread.isEmpty, "refill of a buffer that is not empty")
        // The array is moved out while `body` writes to it, so that it is not copied.
        var contents: [UInt8] = []
        swap(&contents, &bytes)
        defer { swap(&contents, &bytes) }
        if contents.isEmpty { contents = [UInt8](repeating: 0, count: Self.size) }
        var room = contents.mutableSpan
        let progress = try body(&room)
        unread = 0..<progress.produced
        return progress
    }

    /// Drops the unread bytes.
    func removeAll() { unread = 0..<0 }
}
