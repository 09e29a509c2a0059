// SPDX-License-Identifier: MIT

/// Decodes `gzip` and `deflate` with zlib. It adds to zlib: several gzip members, bytes after the end, and raw deflate.
///
/// **gzip** (RFC 1952). A body is one member or several, whose contents are concatenated (§2.2). zlib reads the headers with all
/// their flags, and checks header CRC, CRC-32 and length. If the bytes after a member do not begin another member (`1f 8b 08`),
/// they are ignored up to the end of the body, as in gzip(1) and browsers. Zero padding and a newline at the end are common, and
/// the checksum has verified the data before them. A body that ends within these three bytes of a member is truncated.
///
/// **deflate** (RFC 9110 §8.4.1.2). The name means the zlib format, but some servers send raw deflate. The first two bytes
/// distinguish them: a zlib header has method 8, a window of at most 32 KiB, and a check that makes the two bytes, as one number,
/// a multiple of 31. In raw deflate, a first byte with method 8 would begin a stored block with padding that is not zero, which
/// no encoder writes. Bytes after the end are ignored.
struct InflateDecoder: ~Copyable {
    /// The maximum number of bytes of memory of one decoder: zlib's state (7 KiB) and window (32 KiB), and a margin for the size
    /// headers of ``AccountedBlock``.
    static let memoryLimit = 48 << 10

    private enum State {
        /// gzip, in a member. → betweenMembers
        case member
        /// gzip, after a member. The last `matched` bytes are the first bytes of `memberStart`. → member, ended
        case betweenMembers(matched: Int)
        /// deflate, before its second byte. `first` is the first byte, if it has arrived. → deflateData
        case awaitingHeader(first: UInt8?)
        /// deflate, after the detection of its wrapping. → ended
        case deflateData
        case ended
    }

    /// The bytes that begin a gzip member: ID1, ID2 and the method deflate (RFC 1952 §2.3.1).
    private static let memberStart: InlineArray<3, UInt8> = [0x1f, 0x8b, 0x08]

    private let isGzip: Bool
    private var stream: InflateStream
    private var state: State

    /// Whether the body is complete if it has no more bytes.
    var isComplete: Bool {
        switch state {
        case .betweenMembers(let matched): matched == 0
        case .ended: true
        case .member, .awaitingHeader, .deflateData: false
        }
    }

    /// The maximum number of bytes of memory that the decoder has used at once.
    var peakMemory: Int { stream.peakMemory }

    /// Creates a decoder of gzip, or of deflate.
    init(isGzip: Bool) {
        self.isGzip = isGzip
        stream = InflateStream(isGzip ? .gzip : .zlib, memoryLimit: Self.memoryLimit)
        state = isGzip ? .member : .awaitingHeader(first: nil)
    }

    /// Prepares for another body, in the same memory.
    mutating func reset() {
        stream.reset(isGzip ? .gzip : .zlib)
        state = isGzip ? .member : .awaitingHeader(first: nil)
    }

    /// Decodes some of `input` into `output[start..<start + room]`. `room` must not be zero.
    mutating func step(
        _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>, at start: Int, room: Int
    ) -> DecoderStep {
        switch state {
        case .member:
            var step = stream.step(input, into: &output, at: start, room: room)
            if case .ended = step.outcome {
                state = .betweenMembers(matched: 0)
                // The member has ended, but the body may continue with another.
                step.outcome = .running
            }
            return step
        case .betweenMembers(let matched):
            return seekMember(input, matched: matched, into: &output, at: start)
        case .awaitingHeader(let first):
            return detectWrapping(input, first: first, into: &output, at: start, room: room)
        case .deflateData:
            let step = stream.step(input, into: &output, at: start, room: room)
            if case .ended = step.outcome { state = .ended }
            return step
        case .ended:
            return DecoderStep(consumed: 0, produced: 0, outcome: .ended)
        }
    }

    /// Looks for another member after a complete one. Earlier calls have consumed its first `matched` bytes.
    private mutating func seekMember(
        _ input: Span<UInt8>, matched: Int, into output: inout MutableSpan<UInt8>, at start: Int
    ) -> DecoderStep {
        var matched = matched
        var consumed = 0
        while matched < Self.memberStart.count, consumed < input.count {
            guard input[consumed] == Self.memberStart[matched] else {
                state = .ended
                return DecoderStep(consumed: consumed, produced: 0, outcome: .ended)
            }
            matched += 1
            consumed += 1
        }
        guard matched == Self.memberStart.count else {
            state = .betweenMembers(matched: matched)
            return DecoderStep(consumed: consumed, produced: 0, outcome: .running)
        }
        state = .member
        stream.reset(.gzip)
        let memberStart = Self.memberStart
        return replay(memberStart.span, consumed: consumed, into: &output, at: start)
    }

    /// Detects the wrapping of a deflate body, zlib or raw, from its first two bytes. If `first` is not nil, an earlier call has
    /// consumed the first byte.
    private mutating func detectWrapping(
        _ input: Span<UInt8>, first: UInt8?, into output: inout MutableSpan<UInt8>, at start: Int, room: Int
    ) -> DecoderStep {
        guard !input.isEmpty else { return DecoderStep(consumed: 0, produced: 0, outcome: .running) }
        if let first {
            selectWrapping(first, input[0])
            let firstByte: InlineArray<1, UInt8> = [first]
            // The second byte is not consumed: zlib reads it in the next step.
            return replay(firstByte.span, consumed: 0, into: &output, at: start)
        }
        guard input.count > 1 else {
            state = .awaitingHeader(first: input[0])
            return DecoderStep(consumed: 1, produced: 0, outcome: .running)
        }
        selectWrapping(input[0], input[1])
        return step(input, into: &output, at: start, room: room)
    }

    /// Prepares zlib for the wrapping that begins with these two bytes, the CMF and FLG of a zlib header (RFC 1950 §2.2).
    private mutating func selectWrapping(_ first: UInt8, _ second: UInt8) {
        let isMethodDeflate = first & 0x0f == 8
        // 7 stands for a window of 32 KiB.
        let isWindowValid = first >> 4 <= 7
        let isCheckValid = (UInt16(first) << 8 | UInt16(second)).isMultiple(of: 31)
        stream.reset(isMethodDeflate && isWindowValid && isCheckValid ? .zlib : .raw)
        state = .deflateData
    }

    /// Passes bytes to zlib that were consumed before. There are too few of them for any output. The step that it returns reports
    /// `consumed` bytes of the current input.
    private mutating func replay(
        _ bytes: Span<UInt8>, consumed: Int, into output: inout MutableSpan<UInt8>, at start: Int
    ) -> DecoderStep {
        // No output uses the room. It is 1, because the room of a step must not be 0.
        var step = stream.step(bytes, into: &output, at: start, room: 1)
        step.consumed = consumed
        return step
    }
}
