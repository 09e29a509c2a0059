// SPDX-License-Identifier: MIT

/// The module's entry point: decodes the content codings of one body, piece by piece, in bounded memory.
///
/// The caller passes encoded bytes in, and gets decoded bytes in pieces whose size it chooses. The stream decodes nothing in
/// advance: a caller that stops calling stops the decoding, which provides back-pressure. Between the codings of a stack there is
/// a buffer of 16 KiB; each gzip or deflate decoder holds at most 48 KiB and each br decoder at most 32 MiB (depending on the
/// sender's window, usually far less).
///
/// It knows neither fields nor framing. The caller must not pass it a body that must not be decoded (of a HEAD, 204, 206 or 304
/// response). Used by one thread at a time: a connection's loop. It uses no locks.
///
/// ```swift
/// let stream = CodingStream(try ContentCoding.list("gzip, br"))
/// var piece = [UInt8](repeating: 0, count: 64 << 10)
/// var read = 0
/// while true {
///     var room = piece.mutableSpan
///     let step = try stream.decode(received.extracting(read...), into: &room)
///     read += step.consumed
///     sink.write(piece.span.extracting(first: step.produced))
///     if step.status != .needsRoom { break }
/// }
/// // and after the last of the body:
/// try stream.finish()
/// ```
package final class CodingStream {
    /// The result of one call.
    package struct Progress: Hashable, Sendable {
        /// The bytes consumed from the beginning of the input. The rest has to be passed again.
        package var consumed: Int
        /// The bytes written to the beginning of the output.
        package var produced: Int
        /// What the next call needs.
        package var status: Status
    }

    /// What the next call needs.
    package enum Status: Hashable, Sendable {
        /// More input: all of it was consumed and everything decoded from it was written.
        case needsInput
        /// More room, and the remaining input, if any: use the bytes written, if any, and call again. Either more bytes follow,
        /// or an error, or the call has reached its limit of work: the codings of a stack may read many bytes that decode to
        /// none.
        case needsRoom
        /// Nothing: every coding has ended. Further input is consumed and ignored. A gzip body gets this status only when bytes
        /// follow that begin no other member; a body that ends after a member is complete without this status.
        case done
    }

    /// Whether there are no codings, so that a caller may pass on its bytes without this stream.
    package let isIdentity: Bool
    /// The stages in the order in which they run. Never empty.
    private let stages: [CodingStage]
    /// `buffers[n]` carries bytes from `stages[n]` to `stages[n + 1]`.
    private let buffers: [CodingBuffer]
    /// Whether the last call has left no decoded bytes and no error for the next one.
    private var isDrained = true
    /// The buffer of `push`.
    private var piece: [UInt8] = []
    /// The number of bytes that the current call has passed from one coding to the next.
    private var passed = 0

    /// The value of `passed` at which a call returns.
    private static let passedInOneCall = 64 << 10

    /// The maximum memory that the decoders have held so far.
    package var peakMemory: Int { stages.reduce(0) { $0 + $1.peakMemory } }

    /// Creates a stream for one body.
    ///
    /// - Parameters:
    ///   - codings: in the order in which they were applied, as returned by ``ContentCoding/list(_:)-(Sequence)``.
    ///   - limit: the limit on the expansion of the body.
    package init(_ codings: [ContentCoding], limit: ExpansionLimit = .standard) {
        let applied = codings.filter { $0 != .identity }
        isIdentity = applied.isEmpty
        let decodingOrder = isIdentity ? [.identity] : Array(applied.reversed())
        let last = decodingOrder.count - 1
        stages = decodingOrder.enumerated().map {
            CodingStage($1, limit: $0 == last ? limit : limit.betweenCodings)
        }
        buffers = stages.dropLast().map { _ in CodingBuffer() }
    }

    /// Decodes some of `input` into `output`.
    ///
    /// Bytes that were decoded before an error or a limit are always delivered first: the call that writes them returns
    /// ``Status/needsRoom``, and the next one throws. After an error every further call throws the same.
    package func decode(
        _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>
    ) throws(CodingError) -> Progress {
        // Stays true if the call throws, which leaves no decoded bytes.
        isDrained = true
        passed = 0
        let progress = try fill(&output, from: stages.count - 1, input)
        isDrained = progress.status != .needsRoom
        return progress
    }

    /// Decodes all of `input`, and passes the bytes to `deliver` in pieces of at most 64 KiB, each valid only during its call.
    /// Without a coding, passes the input itself, without a copy.
    package func push(_ input: Span<UInt8>, deliver: (Span<UInt8>) -> Void) throws(CodingError) {
        if isIdentity {
            let admitted = stages[0].admit(input.count)
            if admitted > 0 { deliver(input.extracting(first: admitted)) }
            return try stages[0].checkFailure()
        }
        // The buffer is moved out while it is written to, so that it is not copied.
        var output: [UInt8] = []
        swap(&output, &piece)
        defer { swap(&output, &piece) }
        if output.isEmpty { output = [UInt8](repeating: 0, count: 64 << 10) }
        var read = 0
        while true {
            var room = output.mutableSpan
            let step = try decode(input.extracting(read...), into: &room)
            read += step.consumed
            if step.produced > 0 { deliver(output.span.extracting(first: step.produced)) }
            if step.status != .needsRoom { return }
        }
    }

    /// Ends the body.
    ///
    /// A body without a single byte is complete in any coding: servers label empty bodies too.
    ///
    /// - Precondition: the last ``decode(_:into:)`` did not return ``Status/needsRoom``.
    /// - Throws: ``CodingError/cutShort(coding:offset:)`` if the end of a coding is missing.
    package func finish() throws(CodingError) {
        precondition(isDrained, "finish() before the decoded bytes were taken")
        guard stages[0].consumed > 0 else { return }
        for stage in stages { try stage.finish() }
    }

    /// Prepares for another body with the same codings, even after an error. Reuses zlib's states; brotli's cannot be reused, so
    /// the next body's first byte creates a new one.
    package func reset() {
        for stage in stages { stage.reset() }
        for buffer in buffers { buffer.removeAll() }
        isDrained = true
    }

    /// Runs stage `index` until it has filled `output` or has no input, fetching its input from the stages before it. `input` is
    /// that of the first stage.
    private func fill(
        _ output: inout MutableSpan<UInt8>, from index: Int, _ input: Span<UInt8>
    ) throws(CodingError) -> Progress {
        let stage = stages[index]
        guard index > 0 else { return try stage.decode(input, into: &output, at: 0, received: nil) }
        let buffer = buffers[index - 1]
        var total = Progress(consumed: 0, produced: 0, status: .needsRoom)
        do throws(CodingError) {
            while true {
                let step = try buffer.read { unread throws(CodingError) in
                    try stage.decode(
                        unread, into: &output, at: total.produced, received: stages[0].consumed)
                }
                total.produced += step.produced
                if step.status == .needsRoom || passed >= Self.passedInOneCall { return total }
                // A stage that is done also asks for more input: the stage before it may still have to read its checksum.
                let supply = try buffer.refill { room throws(CodingError) in
                    try fill(&room, from: index - 1, input.extracting(total.consumed...))
                }
                total.consumed += supply.consumed
                passed += supply.produced
                // The stage before has filled only part of the buffer, so it has reached its limit of work.
                if supply.status == .needsRoom, supply.produced < CodingBuffer.size { return total }
                if supply.produced == 0 {
                    total.status = step.status == .done && supply.status == .done ? .done : .needsInput
                    return total
                }
            }
        } catch {
            // The bytes so far are returned first: the failed stage has stored the error, and the next call throws it.
            if total.produced == 0 { throw error }
            total.status = .needsRoom
            return total
        }
    }
}
