// SPDX-License-Identifier: MIT

/// What one call into a decoder did.
struct DecoderStep {
    /// Where the decoder stands after a call.
    enum Outcome {
        /// In mid-stream: it wants more input, or more room.
        case running
        /// At the end mark; what is left of the input does not belong to it.
        case ended
        /// The input is wrong. `unread` bytes of what was consumed lie behind the fault.
        case failed(CodingError.Fault, unread: Int)
        /// The memory account was overdrawn.
        case outOfMemory
    }

    var consumed: Int
    var produced: Int
    var outcome: Outcome
}
