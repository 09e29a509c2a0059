// SPDX-License-Identifier: MIT

/// A stream's content that waits for its consumer; a FIFO buffer.
///
/// Removing octets only advances `start`, so that a slow consumer does not cause a copy of the rest each time.
struct HeldContent: ~Copyable {
    /// The waiting octets, from `start` on.
    private(set) var octets: [UInt8] = []
    private(set) var start = 0

    var count: Int { octets.count - start }
    var isEmpty: Bool { octets.count == start }

    mutating func append(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        // At most as many octets remain as have been removed, so each octet is moved once on average.
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
