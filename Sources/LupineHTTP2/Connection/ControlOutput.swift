// SPDX-License-Identifier: MIT

/// The octets of the frames that wait to be sent, and how many of them the peer has caused.
///
/// A peer that does not read must not make this queue grow without bound. The frames that it causes are therefore counted:
/// acknowledgements, RST_STREAM and WINDOW_UPDATE. Frames that this endpoint sends on its own initiative are not.
struct ControlOutput: Sendable {
    /// All waiting octets, in order.
    private(set) var octets: [UInt8] = []
    /// The number of waiting octets that the peer has caused.
    private(set) var provokedCount = 0

    /// Writes frames that this endpoint sends on its own initiative.
    mutating func write(_ body: (inout [UInt8]) -> Void) { body(&octets) }

    /// Writes frames that the peer has caused.
    mutating func writeProvoked(_ body: (inout [UInt8]) -> Void) {
        let oldCount = octets.count
        body(&octets)
        provokedCount &+= octets.count &- oldCount
    }

    /// Moves all waiting octets to the end of `output`, and resets `provokedCount`.
    mutating func move(to output: inout [UInt8]) {
        provokedCount = 0
        if output.isEmpty {
            // Copies nothing, and keeps both buffers for reuse.
            swap(&output, &octets)
        } else {
            output += octets
        }
        octets.removeAll(keepingCapacity: true)
    }
}
