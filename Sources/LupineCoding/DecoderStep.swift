// SPDX-License-Identifier: MIT

/// The result of one call of a decoder.
struct DecoderStep {
    /// The state of the decoder after a call.
    enum Outcome {
        /// Within the stream: it needs more input or more room.
        case running
        /// At the end of the stream; the remaining input does not belong to it.
        case ended
        /// The input is invalid. `unread` bytes of the consumed ones are after the fault.
        case failed(CodingError.Fault, unread: Int)
        /// The memory limit was exceeded.
        case outOfMemory
    }

    var consumed: Int
    var produced: Int
    var outcome: Outcome
}
