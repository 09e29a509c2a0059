// SPDX-License-Identifier: MIT

/// The location of an entry in a cache's folder: a range of octets in a segment file.
///
/// The numbers may come from a file that anybody has changed. Numbers that no cache writes are rejected, so that sums of them
/// never overflow.
package struct EntryLocation: Hashable, Sendable {
    /// Segment numbers are lower than this; a cache that creates a thousand segments a second takes thirty years to get there.
    static let segmentLimit: UInt64 = 1 << 40
    /// The largest offset or length.
    static let lengthLimit = 1 << 36

    /// The number of the segment.
    let segment: UInt64
    /// Where the entry begins.
    let offset: Int
    /// The length of the entry in octets.
    let length: Int

    /// Returns nil for numbers that no cache writes.
    init?(segment: UInt64, offset: UInt64, length: UInt64) {
        guard segment < Self.segmentLimit, offset <= Self.lengthLimit, length > 0,
            length <= Self.lengthLimit
        else { return nil }
        self.segment = segment
        self.offset = Int(offset)
        self.length = Int(length)
    }

    /// Where the entry ends.
    var end: Int { offset + length }

    /// The first octet of the entry, which no other existing entry has.
    var start: Start { Start(segment: segment, offset: offset) }

    /// The segment and the offset, which identify an entry in a folder.
    package struct Start: Hashable, Sendable {
        let segment: UInt64
        let offset: Int
    }
}
