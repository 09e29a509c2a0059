// SPDX-License-Identifier: MIT
import CLupineBrotli
import Glibc

/// Owns the state of brotli's decoder (RFC 7932). It is the only code that uses `BrotliDecoderState`.
///
/// Windows are at most 16 MiB: the "large window" extension, with which a peer could demand 1 GiB, stays off. ``DecoderMemory``
/// accounts for the memory. Brotli's library cannot reset a decoder state. ``reset()`` therefore destroys the state, and the next
/// ``step(_:into:at:room:)`` creates a new one. A body without bytes needs no state.
@safe
struct BrotliStream: ~Copyable {
    /// Brotli's state; nil until the first step of a body.
    private var state: OpaquePointer?
    /// The account of the decoder's memory, with its limit. It is on the heap, because brotli's state has a pointer to it.
    private let account: UnsafeMutablePointer<DecoderMemory>

    /// The maximum number of bytes of memory that the decoder has used at once.
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
        guard let state = unsafe createStateIfNeeded() else {
            return DecoderStep(consumed: 0, produced: 0, outcome: .outOfMemory)
        }
        let outputSpace = min(room, output.count - start)
        var availableIn = input.count
        var availableOut = outputSpace
        let result = unsafe input.withUnsafeBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target in
                var nextIn = source.baseAddress
                var nextOut = unsafe target.baseAddress.map { unsafe $0 + start }
                // The last argument could receive the total size of the output, which is not needed.
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
            consumed: input.count - availableIn, produced: outputSpace - availableOut, outcome: outcome)
    }

    /// Returns the decoder state, and creates it if necessary. Returns nil if there is no memory.
    private mutating func createStateIfNeeded() -> OpaquePointer? {
        if let state = unsafe state { return unsafe state }
        unsafe state = BrotliDecoderCreateInstance(
            { account, size in unsafe AccountedBlock.allocate(account, size) },
            { account, block in unsafe AccountedBlock.free(account, block) }, UnsafeMutableRawPointer(account)
        )
        return unsafe state
    }

    /// Returns the outcome of a decoder that has failed. Brotli reports a lack of memory with several error codes.
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
