// SPDX-License-Identifier: MIT

/// The content of a stream that waits for its consumer: a FIFO buffer.
///
/// A removal only advances `start`. So it need not move all the other octets.
struct HeldContent: ~Copyable {
    /// The waiting octets, from `start` on.
    private(set) var octets: [UInt8] = []
    /// The number of removed octets at the beginning of `octets`.
    private(set) var start = 0

    var count: Int { octets.count - start }
    var isEmpty: Bool { octets.count == start }

    mutating func append(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        // Compacts the array only if at least as many octets have been removed as remain: on average, each octet is moved at
        // most once.
        if start >= octets.count - start {
            octets.removeSubrange(..<start)
            start = 0
        }
        octets.append(bytes, bytes.indices)
    }

    mutating func dropFirst(_ count: Int) {
        start += count
        guard start == octets.count else { return }
        octets = []
        start = 0
    }
}
