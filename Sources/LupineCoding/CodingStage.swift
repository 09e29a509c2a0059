// SPDX-License-Identifier: MIT

/// One coding of a stack: a decoder, its limits, and its byte counts.
///
/// It enforces the limits, so that they apply between the codings of a stack as well as at its end. If a call has decoded bytes
/// before an error, it returns the bytes, and the next call throws the error.
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
    /// The bytes decoded.
    private var decoded = 0

    /// The maximum input of one call to brotli, which bounds the work of a call: 80 octets can be a header for which brotli has
    /// to build all its tables again.
    private static let brotliInOneCall = 2 << 10

    /// The input bytes consumed.
    private(set) var consumed = 0

    init(_ coding: ContentCoding, limit: ExpansionLimit) {
        self.coding = coding
        self.limit = limit
        decoder = StageDecoder(coding)
    }

    /// The maximum memory that the decoder has held so far.
    var peakMemory: Int { decoder.peakMemory }

    /// Starts a new body.
    func reset() {
        consumed = 0
        decoded = 0
        phase = .decoding
        decoder.reset()
    }

    /// Decodes `input` into `output[start...]`.
    ///
    /// - Parameter received: the number of bytes of the body itself that were read, or nil if this stage reads them.
    func decode(
        _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>, at start: Int, received: Int?
    ) throws(CodingError) -> CodingStream.Progress {
        var read = 0
        var written = 0
        let end = min(input.count, coding == .br ? Self.brotliInOneCall : input.count)
        while true {
            switch phase {
            case .failed(let error):
                // Otherwise `needsRoom` makes the caller use the bytes and call again; that call throws the error.
                if written == 0 { throw error }
                return .init(consumed: read, produced: written, status: .needsRoom)
            case .ended:
                consumed += input.count - read
                return .init(consumed: input.count, produced: written, status: .done)
            case .decoding:
                if start + written == output.count {
                    return .init(consumed: read, produced: written, status: .needsRoom)
                }
            }
            let allowed = limit.ceiling(received: received ?? consumed) - decoded
            // If no more is allowed, room for one byte shows whether the body exceeds the limit.
            let room = min(output.count - start - written, max(allowed, 1))
            let step = decoder.step(
                input.extracting(read..<end), into: &output, at: start + written, room: room)
            read += step.consumed
            consumed += step.consumed
            let overrun = decoded + step.produced > limit.ceiling(received: received ?? consumed)
            // An overrun is that one byte, which is not delivered.
            let produced = overrun ? step.produced - 1 : step.produced
            decoded += produced
            written += produced
            if overrun {
                let received = received ?? consumed
                phase = .failed(limit.error(for: coding, received: received, decoded: decoded))
                continue
            }
            switch step.outcome {
            case .running:
                if read == end, step.produced < room {
                    // If `brotliInOneCall` has cut the input, `needsRoom` makes the caller call again.
                    let status = end == input.count ? CodingStream.Status.needsInput : .needsRoom
                    return .init(consumed: read, produced: written, status: status)
                }
            case .ended:
                phase = .ended
            case .failed(let fault, let unread):
                phase = .failed(.corrupt(coding: coding, offset: consumed - unread, fault: fault))
            case .outOfMemory:
                phase = .failed(.memoryLimit(coding: coding, limit: decoder.memoryLimit))
            }
        }
    }

    /// Counts bytes of a body without a coding, and returns how many of them are allowed. If there are fewer than `count`,
    /// ``checkFailure()`` throws the error afterwards.
    func admit(_ count: Int) -> Int {
        guard case .decoding = phase else { return 0 }
        let admitted = min(count, limit.ceiling(received: consumed + count) - decoded)
        consumed += admitted
        decoded += admitted
        if admitted < count {
            phase = .failed(limit.error(for: coding, received: consumed, decoded: decoded))
        }
        return admitted
    }

    /// Throws the error that ended this body, if there was one.
    func checkFailure() throws(CodingError) {
        if case .failed(let error) = phase { throw error }
    }

    /// Ends the body; throws if it is incomplete or has failed.
    func finish() throws(CodingError) {
        try checkFailure()
        if case .decoding = phase, !decoder.isComplete {
            throw .cutShort(coding: coding, offset: consumed)
        }
    }
}
