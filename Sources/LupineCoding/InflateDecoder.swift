// SPDX-License-Identifier: MIT

/// Decodes `gzip` and `deflate` above zlib: members, trailing bytes, and the two forms of deflate.
///
/// **gzip** (RFC 1952). A body is one member or several, whose contents are concatenated (§2.2). zlib reads the headers with all
/// their flags, and checks header CRC, CRC-32 and length. If the bytes after a member do not begin another member
/// (`1f 8b 08`), they are ignored up to the end of the body, as in gzip(1) and browsers: zero padding and a stray newline are
/// common, and the checksum has verified the data before them. A body that ends within those three bytes is truncated.
///
/// **deflate** (RFC 9110 §8.4.1.2). The name means the zlib wrapping, but some servers send the raw form. The first two bytes
/// distinguish them: a zlib header has method 8, a window of at most 32 KiB, and a check that makes the two bytes, as one number,
/// a multiple of 31. In raw deflate, such a first byte would begin a stored block with padding that is not zero, which no encoder
/// writes. Bytes after the end are ignored.
struct InflateDecoder: ~Copyable {
    /// The maximum memory of one decoder: zlib's state (7 KiB) and window (32 KiB), and a margin for the size headers.
    static let memoryLimit = 48 << 10

    private enum State {
        case member  // gzip: → between
        case between(matched: Int)  // gzip, `matched` bytes of the next magic seen: → member, ended
        case sniffing(first: UInt8?)  // deflate, before its second byte: → body
        case body  // deflate: → ended
        case ended
    }

    /// The bytes that begin a gzip member: ID1, ID2 and the method deflate (RFC 1952 §2.3.1).
    private static let magic: InlineArray<3, UInt8> = [0x1f, 0x8b, 0x08]

    private let isGzip: Bool
    private var stream: InflateStream
    private var state: State

    /// Whether the body is complete if it has no more bytes.
    var isComplete: Bool {
        switch state {
        case .between(let matched): matched == 0
        case .ended: true
        case .member, .sniffing, .body: false
        }
    }

    /// The maximum memory held so far.
    var peakMemory: Int { stream.peakMemory }

    init(gzip: Bool) {
        isGzip = gzip
        stream = InflateStream(gzip ? .gzip : .zlib, memoryLimit: Self.memoryLimit)
        state = gzip ? .member : .sniffing(first: nil)
    }

    /// Prepares for another body, in the same memory.
    mutating func reset() {
        stream.reset(isGzip ? .gzip : .zlib)
        state = isGzip ? .member : .sniffing(first: nil)
    }

    /// Decodes some of `input` into `output[start..<start + room]`. `room` must not be zero.
    mutating func step(
        _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>, at start: Int, room: Int
    ) -> DecoderStep {
        switch state {
        case .member:
            var step = stream.step(input, into: &output, at: start, room: room)
            if case .ended = step.outcome {
                state = .between(matched: 0)
                step.outcome = .running
            }
            return step
        case .between(let matched):
            return seekMember(input, matched: matched, into: &output, at: start)
        case .sniffing(let first):
            return sniff(input, first: first, into: &output, at: start, room: room)
        case .body:
            let step = stream.step(input, into: &output, at: start, room: room)
            if case .ended = step.outcome { state = .ended }
            return step
        case .ended:
            return DecoderStep(consumed: 0, produced: 0, outcome: .ended)
        }
    }

    /// Looks for another member after a complete one; `matched` bytes of its beginning have been consumed.
    private mutating func seekMember(
        _ input: Span<UInt8>, matched: Int, into output: inout MutableSpan<UInt8>, at start: Int
    ) -> DecoderStep {
        var matched = matched
        var consumed = 0
        while matched < Self.magic.count, consumed < input.count {
            guard input[consumed] == Self.magic[matched] else {
                state = .ended
                return DecoderStep(consumed: consumed, produced: 0, outcome: .ended)
            }
            matched += 1
            consumed += 1
        }
        guard matched == Self.magic.count else {
            state = .between(matched: matched)
            return DecoderStep(consumed: consumed, produced: 0, outcome: .running)
        }
        state = .member
        stream.reset(.gzip)
        let magic = Self.magic
        return replay(magic.span, consumed: consumed, into: &output, at: start)
    }

    /// Detects the wrapping of a deflate body, zlib or raw, from its first two bytes; `first` has been consumed earlier.
    private mutating func sniff(
        _ input: Span<UInt8>, first: UInt8?, into output: inout MutableSpan<UInt8>, at start: Int, room: Int
    ) -> DecoderStep {
        guard !input.isEmpty else { return DecoderStep(consumed: 0, produced: 0, outcome: .running) }
        if let first {
            selectWrapping(first, input[0])
            let held: InlineArray<1, UInt8> = [first]
            return replay(held.span, consumed: 0, into: &output, at: start)
        }
        guard input.count > 1 else {
            state = .sniffing(first: input[0])
            return DecoderStep(consumed: 1, produced: 0, outcome: .running)
        }
        selectWrapping(input[0], input[1])
        return step(input, into: &output, at: start, room: room)
    }

    /// Prepares zlib for the wrapping that begins with these two bytes.
    private mutating func selectWrapping(_ first: UInt8, _ second: UInt8) {
        let isZlib =
            first & 0x0f == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(second)).isMultiple(of: 31)
        stream.reset(isZlib ? .zlib : .raw)
        state = .body
    }

    /// Passes bytes to zlib that were consumed earlier; there are too few of them for any output.
    private mutating func replay(
        _ bytes: Span<UInt8>, consumed: Int, into output: inout MutableSpan<UInt8>, at start: Int
    ) -> DecoderStep {
        var step = stream.step(bytes, into: &output, at: start, room: 1)
        step.consumed = consumed
        return step
    }
}
