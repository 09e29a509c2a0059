// SPDX-License-Identifier: MIT

/// Encodes one body as `gzip` or `deflate`, piece by piece: request bodies, and the responses of the test server.
///
/// `deflate` is sent in the zlib format, as RFC 9110 requires. One thread may use the encoder at a time. The encoder uses at most
/// 272 KiB of memory for a body of any size.
package final class DeflateEncoder {
    /// The codings that this encoder produces.
    package enum Coding: Hashable, Sendable, CaseIterable {
        case gzip
        case deflate

        /// The name of the coding in `Content-Encoding`.
        package var contentCoding: ContentCoding {
            switch self {
            case .gzip: .gzip
            case .deflate: .deflate
            }
        }
    }

    /// The number of bytes of memory that zlib needs for a 32 KiB window at its default memory level, for error messages.
    private static let requiredMemory = 272 << 10

    private var stream: DeflateStream

    /// Creates an encoder for one body.
    ///
    /// - Throws: ``CodingError/memoryLimit(coding:limit:)`` if the system provides no memory.
    package init(_ coding: Coding, level: CompressionLevel = .standard) throws(CodingError) {
        let wrapping: InflateStream.Wrapping =
            switch coding {
            case .gzip: .gzip
            case .deflate: .zlib
            }
        guard let stream = DeflateStream(wrapping, level: CInt(level.rawValue)) else {
            throw .memoryLimit(coding: coding.contentCoding, limit: Self.requiredMemory)
        }
        self.stream = stream
    }

    /// Encodes some of `input` into `output`. zlib buffers most of the input, so that later calls write its encoded form.
    package func encode(_ input: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> CodingStream.Progress
    {
        run(input, into: &output, flush: .none)
    }

    /// The minimum size in bytes of the output of a flush. If a flush exactly fills the output, zlib cannot know whether it is
    /// complete. In a smaller output it could write its 5-byte marker again with each call.
    package static let flushRoom = 16

    /// Writes the encoded form of all input so far, so that the peer can decode it. Each flush makes the result some bytes
    /// longer. The caller repeats the call until it returns ``CodingStream/Status/needsInput``.
    ///
    /// - Precondition: `output` has at least ``flushRoom`` bytes.
    package func flush(into output: inout MutableSpan<UInt8>) -> CodingStream.Progress {
        precondition(output.count >= Self.flushRoom, "too little room for a flush")
        let noInput: [UInt8] = []
        return run(noInput.span, into: &output, flush: .toByteBoundary)
    }

    /// Writes the end of the body. The caller repeats the call until it returns ``CodingStream/Status/done``.
    package func finish(into output: inout MutableSpan<UInt8>) -> CodingStream.Progress {
        let noInput: [UInt8] = []
        return run(noInput.span, into: &output, flush: .finish)
    }

    /// Prepares for another body, in the same memory.
    package func reset() { stream.reset() }

    /// Calls zlib until the output is full, the input is used up, or the stream has ended.
    private func run(
        _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>, flush: DeflateStream.Flush
    ) -> CodingStream.Progress {
        var progress = CodingStream.Progress(consumed: 0, produced: 0, status: .needsRoom)
        while progress.produced < output.count {
            let step = stream.step(
                input.extracting(progress.consumed...), into: &output, at: progress.produced, flush: flush)
            progress.consumed += step.consumed
            progress.produced += step.produced
            if step.hasEnded {
                progress.status = .done
                break
            }
            if progress.consumed == input.count, progress.produced < output.count {
                progress.status = .needsInput
                break
            }
        }
        return progress
    }
}
