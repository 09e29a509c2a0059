// SPDX-License-Identifier: MIT
import CLupineBrotli
import Glibc

/// Owns brotli's decoder state (RFC 7932): the only code that uses `BrotliDecoderState`.
///
/// Windows are at most 16 MiB; the "large window" extension, with which a peer could demand 1 GiB, stays off. Memory is accounted
/// for in ``DecoderMemory``. Brotli's library cannot reset a decoder state: ``reset()`` destroys the state, and the next byte
/// creates a new one, so a body without bytes needs no state.
@safe
struct BrotliStream: ~Copyable {
    private var state: OpaquePointer?
    /// The account of the memory that the decoder holds, with its limit.
    private let account: UnsafeMutablePointer<DecoderMemory>

    /// The maximum memory held so far.
    var peakMemory: Int { unsafe account.pointee.peak }

    init(memoryLimit: Int) {
        unsafe account = .allocate(capacity: 1)
        unsafe account.initialize(to: DecoderMemory(limit: memoryLimit))
    }

    deinit {
        if let state = unsafe state { unsafe BrotliDecoderDestroyInstance(state) }
        unsafe account.deallocate()
    }

    /// Prepares for another stream.
    mutating func reset() {
        if let state = unsafe state { unsafe BrotliDecoderDestroyInstance(state) }
        unsafe state = nil
    }

    /// Calls `BrotliDecoderDecompressStream` once: from `input` into `output[start..<start + room]`.
    mutating func step(
        _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>, at start: Int, room: Int
    ) -> DecoderStep {
        guard let state = unsafe open() else {
            return DecoderStep(consumed: 0, produced: 0, outcome: .outOfMemory)
        }
        let wanted = min(room, output.count - start)
        var availableIn = input.count
        var availableOut = wanted
        let result = unsafe input.withUnsafeBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target in
                var nextIn = source.baseAddress
                var nextOut = unsafe target.baseAddress.map { unsafe $0 + start }
                return unsafe BrotliDecoderDecompressStream(
                    state, &availableIn, &nextIn, &availableOut, &nextOut, nil)
            }
        }
        let outcome: DecoderStep.Outcome =
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS: .ended
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: .running
            case _: unsafe failure(of: state)
            }
        return DecoderStep(
            consumed: input.count - availableIn, produced: wanted - availableOut, outcome: outcome)
    }

    /// Returns the decoder state, which is created if necessary; nil if there is no memory.
    private mutating func open() -> OpaquePointer? {
        if let state = unsafe state { return unsafe state }
        unsafe state = BrotliDecoderCreateInstance(
            { account, size in unsafe AccountedBlock.allocate(account, size) },
            { account, block in unsafe AccountedBlock.free(account, block) }, UnsafeMutableRawPointer(account)
        )
        return unsafe state
    }

    /// The outcome of a decoder that has failed; brotli reports a lack of memory with several numbers.
    private func failure(of state: OpaquePointer) -> DecoderStep.Outcome {
        let code = unsafe BrotliDecoderGetErrorCode(state)
        switch code {
        case BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES, BROTLI_DECODER_ERROR_ALLOC_TREE_GROUPS,
            BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MAP, BROTLI_DECODER_ERROR_ALLOC_RING_BUFFER_1,
            BROTLI_DECODER_ERROR_ALLOC_RING_BUFFER_2, BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES:
            return .outOfMemory
        case _:
            let detail =
                unsafe BrotliDecoderErrorString(code).map { unsafe String(cString: $0) } ?? "no detail"
            return .failed(.data(detail: detail), unread: 0)
        }
    }
}
