// SPDX-License-Identifier: MIT

/// The decoder of a content coding, for any coding. ``CodingStage`` uses it.
///
/// Its associated values own the state of the C libraries. They cannot be copied, so each call moves a value out of the enum and
/// back into it.
enum StageDecoder: ~Copyable {
    case inflate(InflateDecoder)
    case brotli(BrotliStream)
    case identity

    /// The maximum number of bytes of memory of one brotli decoder: the largest window (16 MiB), 8 MiB more while the window
    /// grows, and the code tables of a block (under 4 MiB).
    static let brotliMemoryLimit = 32 << 20

    init(_ coding: ContentCoding) {
        switch coding {
        case .gzip: self = .inflate(InflateDecoder(isGzip: true))
        case .deflate: self = .inflate(InflateDecoder(isGzip: false))
        case .br: self = .brotli(BrotliStream(memoryLimit: Self.brotliMemoryLimit))
        case .identity: self = .identity
        }
    }

    /// The maximum number of bytes of memory that the decoder has used at once.
    var peakMemory: Int {
        switch self {
        case .inflate(let inflate): inflate.peakMemory
        case .brotli(let brotli): brotli.peakMemory
        case .identity: 0
        }
    }

    /// Whether the body is complete if it has no more bytes. Always false for brotli, which reports its end as `ended`.
    var isComplete: Bool {
        switch self {
        case .inflate(let inflate): inflate.isComplete
        case .brotli: false
        case .identity: true
        }
    }

    /// The maximum number of bytes of memory that the decoder may use.
    var memoryLimit: Int {
        switch self {
        case .inflate: InflateDecoder.memoryLimit
        case .brotli: Self.brotliMemoryLimit
        case .identity: 0
        }
    }

    /// Prepares for another body.
    mutating func reset() {
        switch consume self {
        case .inflate(var inflate):
            inflate.reset()
            self = .inflate(inflate)
        case .brotli(var brotli):
            brotli.reset()
            self = .brotli(brotli)
        case .identity:
            self = .identity
        }
    }

    /// Decodes some of `input` into `output[start..<start + room]`. `room` must not be zero.
    mutating func step(
        _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>, at start: Int, room: Int
    ) -> DecoderStep {
        switch consume self {
        case .inflate(var inflate):
            let step = inflate.step(input, into: &output, at: start, room: room)
            self = .inflate(inflate)
            return step
        case .brotli(var brotli):
            let step = brotli.step(input, into: &output, at: start, room: room)
            self = .brotli(brotli)
            return step
        case .identity:
            let count = min(input.count, room)
            for index in 0..<count { output[start + index] = input[index] }
            self = .identity
            return DecoderStep(consumed: count, produced: count, outcome: .running)
        }
    }
}
