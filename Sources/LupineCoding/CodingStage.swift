// SPDX-License-Identifier: MIT

/// The decoder of one of a body's content codings, with its limits and byte counts.
///
/// Each stage enforces limits, so that they apply to the data between two codings and to the decoded body. If a call has decoded
/// bytes before an error, it returns the bytes, and the next call throws the error.
final class CodingStage {
    private enum Phase {
        case decoding  // → ended, failed
        case ended
        case failed(CodingError)
    }

    private let coding: ContentCoding
    private let limit: ExpansionLimit
    private var decoder: StageDecoder
    private var phase = Phase.decoding
    /// The number of decoded bytes that the stage has delivered.
    private var decodedCount = 0

    /// The maximum input in bytes of one call of `decode` for brotli. It bounds the work of the call: as few as 80 octets can
    /// make brotli build all its tables again.
    private static let maximumBrotliInput = 2 << 10

    /// The number of input bytes that the stage has consumed.
    private(set) var consumedCount = 0

    init(_ coding: ContentCoding, limit: ExpansionLimit) {
        self.coding = coding
        self.limit = limit
        decoder = StageDecoder(coding)
    }

    /// The maximum number of bytes of memory that the decoder has used at once.
    var peakMemory: Int { decoder.peakMemory }

    /// Starts a new body.
    func reset() {
        consumedCount = 0
        decodedCount = 0
        phase = .decoding
        decoder.reset()
    }

    /// Decodes `input` into `output[start...]`, until the input is consumed, the output is full, or the coding ends.
    ///
    /// - Parameters:
    ///   - input: The encoded bytes.
    ///   - output: The buffer to which the stage writes decoded bytes.
    ///   - start: The index in `output` of the first byte that may be written.
    ///   - received: The number of bytes of the body that the first stage has read, or nil if this is the first stage.
    /// - Throws: The error of an earlier call that has returned decoded bytes, or an error before any byte is decoded.
    func decode(
        _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>, at start: Int, received: Int?
    ) throws(CodingError) -> CodingStream.Progress {
        var readCount = 0
        var writtenCount = 0
        let end = min(input.count, coding == .br ? Self.maximumBrotliInput : input.count)
        while true {
            switch phase {
            case .failed(let error):
                if writtenCount == 0 { throw error }
                // `needsRoom` makes the caller use the bytes and call again. That call throws the error.
                return .init(consumed: readCount, produced: writtenCount, status: .needsRoom)
            case .ended:
                // The input after the end is consumed and ignored.
                consumedCount += input.count - readCount
                return .init(consumed: input.count, produced: writtenCount, status: .done)
            case .decoding:
                if start + writtenCount == output.count {
                    return .init(consumed: readCount, produced: writtenCount, status: .needsRoom)
                }
            }
            let allowedCount = limit.ceiling(received: received ?? consumedCount) - decodedCount
            // At the limit, space for one more byte shows whether the body exceeds the limit.
            let room = min(output.count - start - writtenCount, max(allowedCount, 1))
            let step = decoder.step(
                input.extracting(readCount..<end), into: &output, at: start + writtenCount, room: room)
            readCount += step.consumed
            consumedCount += step.consumed
            // The limit is computed again, because the consumed input may have raised it.
            let ceiling = limit.ceiling(received: received ?? consumedCount)
            let exceedsLimit = decodedCount + step.produced > ceiling
            // Only the byte after the limit is not delivered.
            let produced = exceedsLimit ? step.produced - 1 : step.produced
            decodedCount += produced
            writtenCount += produced
            if exceedsLimit {
                let received = received ?? consumedCount
                phase = .failed(limit.error(for: coding, received: received, decoded: decodedCount))
                continue
            }
            switch step.outcome {
            case .running:
                // The decoder has read all input and has no more output.
                if readCount == end, step.produced < room {
                    // If `maximumBrotliInput` has cut the input, `needsRoom` makes the caller call again.
                    let status = end == input.count ? CodingStream.Status.needsInput : .needsRoom
                    return .init(consumed: readCount, produced: writtenCount, status: status)
                }
            case .ended:
                phase = .ended
            case .failed(let fault, let unread):
                phase = .failed(.corrupt(coding: coding, offset: consumedCount - unread, fault: fault))
            case .outOfMemory:
                phase = .failed(.memoryLimit(coding: coding, limit: decoder.memoryLimit))
            }
        }
    }

    /// Counts `count` bytes of a body without a coding, which need not be decoded. Returns how many of them the limit allows. If
    /// the result is less than `count`, ``checkFailure()`` then throws the error.
    func countUncodedBytes(_ count: Int) -> Int {
        guard case .decoding = phase else { return 0 }
        let allowedCount = min(count, limit.ceiling(received: consumedCount + count) - decodedCount)
        consumedCount += allowedCount
        decodedCount += allowedCount
        if allowedCount < count {
            phase = .failed(limit.error(for: coding, received: consumedCount, decoded: decodedCount))
        }
        return allowedCount
    }

    /// Throws the error with which this body has failed, if it has.
    func checkFailure() throws(CodingError) {
        if case .failed(let error) = phase { throw error }
    }

    /// Ends the body. Throws if the body is incomplete or has failed.
    func finish() throws(CodingError) {
        try checkFailure()
        if case .decoding = phase, !decoder.isComplete {
            throw .cutShort(coding: coding, offset: consumedCount)
        }
    }
}
