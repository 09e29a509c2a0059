// SPDX-License-Identifier: MIT

/// Where the octets of an entry stand in the folder of a cache: a run of one segment file.
///
/// Its numbers may come from a file that anybody has changed. Those that no cache writes make no place, so that sums of them
/// never overflow.
package struct CachePlace: Hashable, Sendable {
    /// No segment has this number or a higher one: a cache that makes a thousand a second gets there in thirty years.
    static let segmentLimit: UInt64 = 1 << 40
    /// No segment is longer than this.
    static let lengthLimit = 1 << 36

    /// The number of the segment.
    let segment: UInt64
    /// Where the run begins.
    let offset: Int
    /// How many octets it has.
    let length: Int

    /// Nil for numbers that no cache writes.
    init?(segment: UInt64, offset: UInt64, length: UInt64) {
        guard segment < Self.segmentLimit, offset <= Self.lengthLimit, length > 0,
            length <= Self.lengthLimit
        else { return nil }
        self.segment = segment
        self.offset = Int(offset)
        self.length = Int(length)
    }

    /// Where the run ends.
    var end: Int { offset + length }

    /// The first octet of the run, which no other entry has while both are there.
    var start: Start { Start(segment: segment, offset: offset) }

    /// What tells the entries of a folder apart.
    package struct Start: Hashable, Sendable {
        let segment: UInt64
        let offset: Int
    }
}
