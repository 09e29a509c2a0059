// SPDX-License-Identifier: MIT

/// The buffer between two codings of a body: it stores bytes that one stage has decoded and the next stage has not read.
///
/// It is filled only when it is empty, so its bytes never have to be moved.
final class CodingBuffer {
    /// The capacity in bytes.
    static let size = 16 << 10

    /// The buffer of `size` bytes; empty until the first `refill`.
    private var bytes: [UInt8] = []
    /// The range in `bytes` of the bytes that have not been read.
    private var unread = 0..<0

    /// Passes the unread bytes to `body`, and removes those that `body` reports as consumed. Returns the result of `body`.
    func read(
        _ body: (Span<UInt8>) throws(CodingError) -> CodingStream.Progress
    ) throws(CodingError) -> CodingStream.Progress {
        let contents = bytes
        let progress = try body(contents.span.extracting(unread))
        unread = (unread.lowerBound + progress.consumed)..<unread.upperBound
        return progress
    }

    /// Passes the buffer to `body`. The bytes that `body` reports as produced are the new unread bytes. Returns the result of
    /// `body`.
    ///
    /// - Precondition: all bytes have been read.
    func refill(
        _ body: (inout MutableSpan<UInt8>) throws(CodingError) -> CodingStream.Progress
    ) throws(CodingError) -> CodingStream.Progress {
        precondition(unread.isEmpty, "refill of a buffer that is not empty")
        // The array is moved out of the property while `body` writes to it, so that it has one reference and is not copied.
        var contents: [UInt8] = []
        swap(&contents, &bytes)
        defer { swap(&contents, &bytes) }
        if contents.isEmpty { contents = [UInt8](repeating: 0, count: Self.size) }
        var span = contents.mutableSpan
        let progress = try body(&span)
        unread = 0..<progress.produced
        return progress
    }

    /// Drops the unread bytes.
    func removeAll() { unread = 0..<0 }
}
