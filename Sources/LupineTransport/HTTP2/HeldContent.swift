// SPDX-License-Identifier: MIT

/// Content of a stream that waits for its consumer: appended at one end, taken from the other.
///
/// What is taken is moved past, not out, so that a slow consumer costs no copy of the rest each time.
struct HeldContent: ~Copyable {
    /// What waits, from `start` on.
    private(set) var octets: [UInt8] = []
    private(set) var start = 0

    var count: Int { octets.count - start }
    var isEmpty: Bool { octets.count == start }

    mutating func append(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        // As much has been taken as is left at most: each octet is moved once.
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
