// SPDX-License-Identifier: MIT

/// A cut in the ciphertext of a connection, for example inside a record or a handshake: its position and kind.
package struct WireCut: Hashable, Sendable {
    /// The event that the client receives at the cut.
    package enum Ending: Hashable, Sendable {
        /// None: the bytes after the cut are never sent.
        case stall
        /// The end of the stream.
        case end
        /// A reset.
        case reset
    }

    /// The number of bytes that are still sent.
    package var bytes: Int
    /// The event at the cut.
    package var ending: Ending

    /// Creates a cut after a number of bytes.
    package init(after bytes: Int, _ ending: Ending) {
        self.bytes = bytes
        self.ending = ending
    }
}
