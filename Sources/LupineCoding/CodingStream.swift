// SPDX-License-Identifier: MIT

/// Decodes the content codings of one body, piece by piece, in bounded memory. It is the main type of the module.
///
/// The caller passes encoded bytes, and receives decoded bytes in pieces whose size it chooses. The stream decodes nothing in
/// advance: if the caller stops calling, the decoding stops, which provides back-pressure. Between two codings there is a buffer
/// of 16 KiB. Each gzip or deflate decoder uses at most 48 KiB. Each br decoder uses at most 32 MiB, usually far less: its memory
/// depends on the sender's window.
///
/// The stream does not read header fields or framing. The caller must not use it for responses whose content is absent or
/// partial: responses to HEAD, and those with the status 204, 206 or 304. The stream has no locks: one thread may use it at a
/// time, such as the loop of a connection.
///
/// ```swift
/// let stream = CodingStream(try ContentCoding.list("gzip, br"))
/// var piece = [UInt8](repeating: 0, count: 64 << 10)
/// var read = 0
/// while true {
///     var room = piece.mutableSpan
///     let progress = try stream.decode(received.extracting(read...), into: &room)
///     read += progress.consumed
///     sink.write(piece.span.extracting(first: progress.produced))
///     if progress.status != .needsRoom { break }
/// }
/// // and after the last bytes of the body:
/// try stream.finish()
/// ```
package final class CodingStream {
    /// The result of one call.
    package struct Progress: Hashable, Sendable {
        /// The number of bytes consumed from the beginning of the input. The caller has to pass the other bytes again.
        package var consumed: Int
        /// The number of bytes written to the beginning of the output.
        package var produced: Int
        /// What the next call needs.
        package var status: Status
    }

    /// What the next call needs.
    package enum Status: Hashable, Sendable {
        /// More input: the call has consumed all input, and has written all bytes that it decodes to.
        case needsInput
        /// More space for output, and the remaining input. The caller uses the written bytes, if any, and calls again. More bytes
        /// follow, or an error, or the call has reached its limit of work: several codings can read many bytes that decode to
        /// none.
        case needsRoom
        /// Nothing: every coding has ended. Further input is consumed and ignored. A gzip body gets this status only if bytes
        /// follow that do not begin another member. A body that ends after a member is complete without this status.
        case done
    }

    /// Whether there are no codings, so that the caller may use the body's bytes without this stream.
    package let isIdentity: Bool
    /// The stages, one for each coding, in the order in which they decode. Never empty.
    private let stages: [CodingStage]
    /// The buffers between the stages: `buffers[n]` has the output of `stages[n]`, which is the input of `stages[n + 1]`.
    private let buffers: [CodingBuffer]
    /// Whether the last call has left no decoded bytes and no error for the next call.
    private var isDrained = true
    /// The output buffer of `push`.
    private var piece: [UInt8] = []
    /// The number of bytes that the current call has written to the buffers between the stages.
    private var transferredCount = 0

    /// The value of `transferredCount` at which a call returns, because its work must be bounded.
    private static let maximumTransfer = 64 << 10

    /// The maximum number of bytes of memory that the decoders have used at once.
    package var peakMemory: Int { stages.reduce(0) { $0 + $1.peakMemory } }

    /// Creates a stream for one body.
    ///
    /// - Parameters:
    ///   - codings: The codings in the order in which they were applied, as ``ContentCoding/list(_:)-(Sequence)`` returns them.
    ///   - limit: The limit on the expansion of the body.
    package init(_ codings: [ContentCoding], limit: ExpansionLimit = .standard) {
        let appliedCodings = codings.filter { $0 != .identity }
        isIdentity = appliedCodings.isEmpty
        let decodingOrder = isIdentity ? [.identity] : Array(appliedCodings.reversed())
        let lastIndex = decodingOrder.count - 1
        stages = decodingOrder.enumerated().map { index, coding in
            CodingStage(coding, limit: index == lastIndex ? limit : limit.betweenCodings)
        }
        buffers = stages.dropLast().map { _ in CodingBuffer() }
    }

    /// Decodes some of `input` into `output`. Returns how much it has consumed and written, and what the next call needs.
    ///
    /// Bytes that were decoded before an error or a limit are always delivered first: the call that writes them returns
    /// ``Status/needsRoom``, and the next call throws. After an error every further call throws the same error.
    package func decode(
        _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>
    ) throws(CodingError) -> Progress {
        // Remains true if the call throws: then no decoded bytes are left.
        isDrained = true
        transferredCount = 0
        let progress = try fill(&output, from: stages.count - 1, input)
        isDrained = progress.status != .needsRoom
        return progress
    }

    /// Decodes all of `input`, and passes the decoded bytes to `deliver` in pieces of at most 64 KiB. Each piece is valid only
    /// during its call. Without a coding, passes the input itself to `deliver`, without a copy.
    package func push(_ input: Span<UInt8>, deliver: (Span<UInt8>) -> Void) throws(CodingError) {
        if isIdentity {
            let allowedCount = stages[0].countUncodedBytes(input.count)
            if allowedCount > 0 { deliver(input.extracting(first: allowedCount)) }
            return try stages[0].checkFailure()
        }
        // The array is moved out of the property while the stream writes to it, so that it has one reference and is not copied.
        var output: [UInt8] = []
        swap(&output, &piece)
        defer { swap(&output, &piece) }
        if output.isEmpty { output = [UInt8](repeating: 0, count: 64 << 10) }
        var readCount = 0
        while true {
            var span = output.mutableSpan
            let progress = try decode(input.extracting(readCount...), into: &span)
            readCount += progress.consumed
            if progress.produced > 0 { deliver(output.span.extracting(first: progress.produced)) }
            if progress.status != .needsRoom { return }
        }
    }

    /// Ends the body.
    ///
    /// An empty body is complete in any coding, because servers send `Content-Encoding` with empty bodies too.
    ///
    /// - Precondition: The last ``decode(_:into:)`` did not return ``Status/needsRoom``.
    /// - Throws: ``CodingError/cutShort(coding:offset:)`` if the end of a coding is missing, or the error of an earlier call.
    package func finish() throws(CodingError) {
        precondition(isDrained, "finish() before the decoded bytes were taken")
        guard stages[0].consumedCount > 0 else { return }
        for stage in stages { try stage.finish() }
    }

    /// Prepares for another body with the same codings, even after an error. Zlib's states are reused. Brotli's states cannot be
    /// reused, and the next body creates new ones.
    package func reset() {
        for stage in stages { stage.reset() }
        for buffer in buffers { buffer.removeAll() }
        isDrained = true
    }

    /// Runs stage `index` until it has filled `output`, has no input, or has reached the limit of work. Its input comes from the
    /// stages before it, which this method runs recursively. `input` is the input of the first stage.
    private func fill(
        _ output: inout MutableSpan<UInt8>, from index: Int, _ input: Span<UInt8>
    ) throws(CodingError) -> Progress {
        let stage = stages[index]
        // Nil, because the first stage itself counts the bytes of the body that have been read.
        guard index > 0 else { return try stage.decode(input, into: &output, at: 0, received: nil) }
        let buffer = buffers[index - 1]
        var total = Progress(consumed: 0, produced: 0, status: .needsRoom)
        do throws(CodingError) {
            while true {
                let progress = try buffer.read { unread throws(CodingError) in
                    try stage.decode(
                        unread, into: &output, at: total.produced, received: stages[0].consumedCount)
                }
                total.produced += progress.produced
                // The status of `total` is still `needsRoom`.
                if progress.status == .needsRoom || transferredCount >= Self.maximumTransfer { return total }
                // A stage that is done also needs the stage before it to run: that stage may still have to read its checksum.
                let refill = try buffer.refill { span throws(CodingError) in
                    try fill(&span, from: index - 1, input.extracting(total.consumed...))
                }
                total.consumed += refill.consumed
                transferredCount += refill.produced
                // The stage before has not filled the buffer although it could go on, so it has reached its limit of work.
                if refill.status == .needsRoom, refill.produced < CodingBuffer.size { return total }
                if refill.produced == 0 {
                    let isDone = progress.status == .done && refill.status == .done
                    total.status = isDone ? .done : .needsInput
                    return total
                }
            }
        } catch {
            // Decoded bytes are returned before the error. The failed stage stores the error, and the next call throws it.
            if total.produced == 0 { throw error }
            total.status = .needsRoom
            return total
        }
    }
}
