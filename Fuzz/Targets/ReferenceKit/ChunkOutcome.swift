// SPDX-License-Identifier: MIT

/// What one reader makes of a chunked body.
package struct ChunkOutcome: Hashable {
    /// Why reading stopped.
    package enum Ending: Hashable {
        case incomplete
        case complete(length: Int)
        case size, overflow, extensionOctet, chunkEnd, extensionLimit, trailers
    }

    package var content: [UInt8] = []
    /// Names and values in turn.
    package var trailers: [[UInt8]] = []
    package var ending = Ending.incomplete

    package init() {}
}
