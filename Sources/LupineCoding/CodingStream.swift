// SPDX-License-Identifier: MIT

/// The door of this module: undoes the content codings of one body, piece by piece, in bounded memory.
///
/// Push encoded bytes in, take decoded bytes out in pieces of the caller's size. Nothing is read ahead: a caller that
/// stops calling stops the decoding, which is all the back-pressure there is to it. Between the codings of a stack
/// stands a buffer of 16 KiB; each gzip or deflate decoder holds at most 48 KiB and each br decoder at most 32 MiB
/// (the window that the sender chose, mostly far less).
///
/// Not for whole messages: it knows no fields and no framing. A body that must not be decoded (of a HEAD, 204, 206 or
/// 304 response) must not be pushed here. Used by one thread at a time: a connection's loop. It holds no lock.
///
/// ```swift
/// let stream = CodingStream(try ContentCoding.list("gzip, br"))
/// var piece = [UInt8](repeating: 0, count: 64 << 10)
/// var read = 0
/// while true {
///     var room = piece.mutableSpan
///     let step = try stream.decode(received.extracting(read...), into: &room)
///     read += step.consumed
///     sink.take(piece.span.extracting(first: step.produced))
///     if step.status != .needsRoom { break }
/// }
/// // and after the last of the body:
/// try stream.finish()
/// ```
package final class CodingStream {
    /// What one call did.
    package struct Progress: Hashable, Sendable {
        /// Bytes taken from the front of the input. The rest must come again.
        package var consumed: Int
        /// Bytes written to the front of the output.
        package var produced: Int
        /// What the next call should bring.
        package var status: Status
    }

    /// What the next call should bring.
    package enum Status: Hashable, Sendable {
        /// More input: all of it was consumed and all that it decodes to was written.
        case needsInput
        /// More room, and the input that is left (perhaps none): take what was written, perhaps nothing, and call again.
        /// More bytes follow, or the fault that stopped them, or the call has done enough: the codings of a stack may have much
        /// to read that comes to nothing.
        case needsRoom
        /// Nothing: every coding is at its end mark. More input is consumed and ignored. (gzip tells its end only when
        /// something else than another member follows; a body that just ends there is complete all the same.)
        case done
    }

    /// Whether there is nothing to undo, so that a caller may hand its bytes on without this stream.
    package let isIdentity: Bool
    /// In the order in which they run. Never empty.
    private let stages: [CodingStage]
    /// `joints[n]` carries bytes from `stages[n]` to `stages[n + 1]`.
    private let joints: [CodingJoint]
    private var isDrained = true
    private var piece: [UInt8] = []
    /// Bytes that have passed between codings in this call.
    private var passed = 0

    /// After so many a call returns.
    private static let passedInOneCall = 64 << 10

    /// Most memory the decoders held, so far.
    package var peakMemory: Int { stages.reduce(0) { $0 + $1.peakMemory } }

    /// - Parameters:
    ///   - codings: as ``ContentCoding/list(_:)-(Sequence)`` gives them: in the order in which they were applied.
    ///   - limit: how far the body may grow.
    package init(_ codings: [ContentCoding], limit: ExpansionLimit = .standard) {
        let applied = codings.filter { $0 != .identity }
        isIdentity = applied.isEmpty
        let undone = isIdentity ? [.identity] : Array(applied.reversed())
        let last = undone.count - 1
        stages = undone.enumerated().map { CodingStage($1, limit: $0 == last ? limit : limit.betweenCodings) }
        joints = stages.dropLast().map { _ in CodingJoint() }
    }

    /// Decodes some of `input` into `output`.
    ///
    /// Bytes that decoded before a fault or a limit are always handed out first: the call that writes them returns
    /// ``Status/needsRoom``, and the next one throws. After a throw every further call throws the same.
    package func decode(
        _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>
    ) throws(CodingError) -> Progress {
        // Also a call that throws leaves nothing to take.
        isDrained = true
        passed = 0
        let progress = try fill(&output, from: stages.count - 1, input)
        isDrained = progress.status != .needsRoom
        return progress
    }

    /// Decodes all of `input` and hands the bytes to `deliver` in pieces of at most 64 KiB, each valid during its call
    /// only. For callers that take everything at once; without a coding the input itself is handed on, uncopied.
    package func push(_ input: Span<UInt8>, deliver: (Span<UInt8>) -> Void) throws(CodingError) {
        if isIdentity {
            let admitted = stages[0].admit(input.count)
            if admitted > 0 { deliver(input.extracting(first: admitted)) }
            return try stages[0].checkFailure()
        }
        var lent: [UInt8] = []
        swap(&lent, &piece)
        defer { swap(&lent, &piece) }
        if lent.isEmpty { lent = [UInt8](repeating: 0, count: 64 << 10) }
        var read = 0
        while true {
            var room = lent.mutableSpan
            let step = try decode(input.extracting(read...), into: &room)
            read += step.consumed
            if step.produced > 0 { deliver(lent.span.extracting(first: step.produced)) }
            if step.status != .needsRoom { return }
        }
    }

    /// Says that the body is over.
    ///
    /// A body without a single byte is complete in any coding: servers label empty bodies too.
    ///
    /// - Precondition: the last ``decode(_:into:)`` did not return ``Status/needsRoom``.
    /// - Throws: ``CodingError/cutShort(coding:offset:)`` when a coding's end mark has not come.
    package func finish() throws(CodingError) {
        precondition(isDrained, "finish() before the decoded bytes were taken")
        guard stages[0].consumed > 0 else { return }
        for stage in stages { try stage.finish() }
    }

    /// Makes ready for another body in the same codings, after any outcome of the last one. zlib's states are kept and
    /// reused; brotli has no such thing, so its state is made anew when the next body's first byte comes.
    package func reset() {
        for stage in stages { stage.reset() }
        for joint in joints { joint.removeAll() }
        isDrained = true
    }

    /// Lets stage `index` write into `output`, fetching what it needs from the stages before it.
    private func fill(
        _ output: inout MutableSpan<UInt8>, from index: Int, _ input: Span<UInt8>
    ) throws(CodingError) -> Progress {
        let stage = stages[index]
        guard index > 0 else { return try stage.decode(input, into: &output, at: 0, received: nil) }
        let joint = joints[index - 1]
        var total = Progress(consumed: 0, produced: 0, status: .needsRoom)
        do throws(CodingError) {
            while true {
                let step = try joint.read { unread throws(CodingError) in
                    try stage.decode(
                        unread, into: &output, at: total.produced, received: stages[0].consumed)
                }
                total.produced += step.produced
                if step.status == .needsRoom || passed >= Self.passedInOneCall { return total }
                // Also a stage that is done asks for more: the checksum of the one before it may still be to come.
                let supply = try joint.refill { room throws(CodingError) in
                    try fill(&room, from: index - 1, input.extracting(total.consumed...))
                }
                total.consumed += supply.consumed
                passed += supply.produced
                // Less than there was room for: it has done enough.
                if supply.status == .needsRoom, supply.produced < CodingJoint.size { return total }
                if supply.produced == 0 {
                    total.status = step.status == .done && supply.status == .done ? .done : .needsInput
                    return total
                }
            }
        } catch {
            // The failed stage remembers: the next call meets it again, with nothing before it.
            if total.produced == 0 { throw error }
            total.status = .needsRoom
            return total
        }
    }
}
