// SPDX-License-Identifier: MIT

/// The result of one call of a decoder.
struct DecoderStep {
    /// The state of the decoder after the call.
    enum Outcome {
        /// The stream continues. The decoder needs more input, or more space for output.
        case running
        /// The stream has ended. The remaining input does not belong to it.
        case ended
        /// The input is invalid. Of the consumed bytes, the last `unread` come after the invalid ones.
        case failed(CodingError.Fault, unread: Int)
        /// The decoder needs more memory than its limit, or than the system provides.
        case outOfMemory
    }

    /// The number of bytes consumed from the input.
    var consumed: Int
    /// The number of bytes written to the output.
    var produced: Int
    var outcome: Outcome
}
