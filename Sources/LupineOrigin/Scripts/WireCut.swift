// SPDX-License-Identifier: MIT

/// A cut in the ciphertext that the origin sends on a connection, for example inside a record or a handshake.
package struct WireCut: Hashable, Sendable {
    /// The event that the client receives at the cut.
    package enum Ending: Hashable, Sendable {
        /// No event: the bytes after the cut are never sent.
        case stall
        /// The end of the stream (FIN).
        case end
        /// A reset (RST).
        case reset
    }

    /// The number of bytes to send before the cut.
    package var remainingBytes: Int
    /// The event at the cut.
    package var ending: Ending

    /// Creates a cut after a number of bytes.
    package init(after bytes: Int, _ ending: Ending) {
        remainingBytes = bytes
        self.ending = ending
    }
}
