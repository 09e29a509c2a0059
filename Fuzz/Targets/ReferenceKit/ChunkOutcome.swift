// SPDX-License-Identifier: MIT

/// The result of reading a chunked body.
package struct ChunkOutcome: Hashable {
    /// The reason why reading stopped.
    package enum Ending: Hashable {
        case incomplete
        case complete(length: Int)
        case size, overflow, extensionOctet, chunkEnd, extensionLimit, trailers
    }

    package var content: [UInt8] = []
    /// Names and values alternately.
    package var trailers: [[UInt8]] = []
    package var ending = Ending.incomplete

    package init() {}
}
