// SPDX-License-Identifier: MIT

/// The result of one call of a decoder.
struct DecoderStep {
    /// The state of the decoder after the call.
    enum Outcome {
        /// The stream continues, and the decoder needs more input or more room.
        case running
        /// The stream has ended; the remaining input does not belong to it.
        case ended
        /// The input is invalid. The last `unread` of the consumed bytes are after the fault.
        case failed(CodingError.Fault, unread: Int)
        /// The memory limit was exceeded.
        case outOfMemory
    }

    /// The bytes read from the input.
    var consumed: Int
    /// The bytes written to the output.
    var produced: Int
    var outcome: Outcome
}
