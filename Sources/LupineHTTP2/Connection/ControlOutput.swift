// SPDX-License-Identifier: MIT

/// The frames that wait to be sent, and how much of them the peer has caused.
///
/// What this end sends of its own will is its own business. What the peer causes, it must also take: acknowledgements,
/// resets and window updates that pile up behind a connection nobody reads from are limited.
struct ControlOutput: Sendable {
    /// All octets that wait, in their order.
    private(set) var octets: [UInt8] = []
    /// How many of them the peer has caused.
    private(set) var provoked = 0

    /// Writes frames of this end's own will.
    mutating func write(_ body: (inout [UInt8]) -> Void) { body(&octets) }

    /// Writes frames that the peer has caused.
    mutating func answer(_ body: (inout [UInt8]) -> Void) {
        let before = octets.count
        body(&octets)
        provoked &+= octets.count &- before
    }

    /// Moves everything that waits behind the octets in `output`.
    mutating func move(to output: inout [UInt8]) {
        provoked = 0
        if output.isEmpty {
            swap(&output, &octets)
        } else {
            output += octets
        }
        octets.removeAll(keepingCapacity: true)
    }
}
