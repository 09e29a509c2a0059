// SPDX-License-Identifier: MIT

/// Where the ciphertext of a connection is cut off, and how: half a record, half a handshake.
package struct WireCut: Hashable, Sendable {
    /// What the client meets there.
    package enum Ending: Hashable, Sendable {
        /// Nothing: the rest never comes.
        case stall
        /// The end of the stream.
        case end
        /// A reset.
        case reset
    }

    /// So many bytes still go out.
    package var bytes: Int
    /// What comes then.
    package var ending: Ending

    /// A cut after so many bytes.
    package init(after bytes: Int, _ ending: Ending) {
        self.bytes = bytes
        self.ending = ending
    }
}
