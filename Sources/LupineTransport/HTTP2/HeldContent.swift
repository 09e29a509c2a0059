// SPDX-License-Identifier: MIT

/// A FIFO buffer for a stream's content that waits for its consumer.
///
/// Removing octets only advances `start`: otherwise each removal by a slow consumer would move all other octets.
struct HeldContent: ~Copyable {
    /// The waiting octets, from `start` on.
    private(set) var octets: [UInt8] = []
    /// The number of removed octets at the beginning of `octets`.
    private(set) var start = 0

    var count: Int { octets.count - start }
    var isEmpty: Bool { octets.count == start }

    mutating func append(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        // Compacts only if no more octets remain than have been removed, so that each octet is moved once on average.
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
