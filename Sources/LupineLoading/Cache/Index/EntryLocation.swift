// SPDX-License-Identifier: MIT

/// The location of an entry in a cache's folder: a range of octets in a segment file.
///
/// The numbers may come from a forged file. Numbers that no cache writes are rejected, so that sums of them never overflow.
package struct EntryLocation: Hashable, Sendable {
    /// All segment numbers are lower than this. A cache that creates a thousand segments a second reaches it after thirty years.
    static let segmentLimit: UInt64 = 1 << 40
    /// The largest offset or length: 64 GiB.
    static let lengthLimit = 1 << 36

    /// The number of the segment.
    let segment: UInt64
    /// The offset of the entry's first octet.
    let offset: Int
    /// The length of the entry in octets.
    let length: Int

    /// Creates a location. Returns nil for numbers that no cache writes.
    init?(segment: UInt64, offset: UInt64, length: UInt64) {
        guard segment < Self.segmentLimit, offset <= Self.lengthLimit, length > 0,
            length <= Self.lengthLimit
        else { return nil }
        self.segment = segment
        self.offset = Int(offset)
        self.length = Int(length)
    }

    /// The offset after the entry's last octet.
    var end: Int { offset + length }

    /// The position of the entry's first octet, which identifies the entry in the folder.
    var start: Start { Start(segment: segment, offset: offset) }

    /// The position of an entry's first octet.
    package struct Start: Hashable, Sendable {
        let segment: UInt64
        let offset: Int
    }
}
