// SPDX-License-Identifier: MIT

/// Walks over runs of octets, eight at a time where that is possible without reading past the span.
///
/// Each word is put together from eight checked subscripts; the compiler proves the checks once per word and emits
/// a single load, so the loops are as fast as unsafe ones (`Scripts/bench http`).
enum OctetScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Eight octets from `index`, the first in the lowest byte. The caller has checked that they are there.
    @inline(__always)
    static func word(_ bytes: Span<UInt8>, at index: Int) -> UInt64 {
        let eight = bytes.extracting(index..<(index &+ 8))
        let low =
            UInt64(eight[0]) | UInt64(eight[1]) << 8 | UInt64(eight[2]) << 16 | UInt64(eight[3]) << 24
        let high =
            UInt64(eight[4]) << 32 | UInt64(eight[5]) << 40 | UInt64(eight[6]) << 48 | UInt64(eight[7]) << 56
        return low | high
    }

    /// The first index in `start..<end` whose octet may not stand in a field value, or `end`.
    @inline(__always)
    static func endOfValue(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int {
        var index = start
        while index &+ 8 <= end {
            let octets = word(bytes, at: index)
            // A byte under 0x20 borrows into its high bit; a DEL turns to zero, which borrows as well. The lowest
            // flag is exact, higher ones may be carried into: only the lowest is used.
            let controls = (octets &- 0x20 &* ones) & ~octets
            let deletes = octets ^ (0x7F &* ones)
            let flags = (controls | ((deletes &- ones) & ~deletes)) & highs
            if flags != 0 {
                index &+= flags.trailingZeroBitCount >> 3
                if bytes[index] != Octet.tab { return index }
                index &+= 1
            } else {
                index &+= 8
            }
        }
        while index < end, OctetClass.contains(bytes[index], OctetClass.value) { index &+= 1 }
        return index
    }

    /// The first index in `start..<end` whose octet may not stand in a token, or `end`.
    @inline(__always)
    static func endOfToken(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int {
        var index = start
        while index < end, OctetClass.contains(bytes[index], OctetClass.token) { index &+= 1 }
        return index
    }

    /// The first index in `start..<end` that holds `octet`, or nil.
    @inline(__always)
    static func firstIndex(of octet: UInt8, _ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int? {
        let pattern = UInt64(octet) &* ones
        var index = start
        while index &+ 8 <= end {
            let different = word(bytes, at: index) ^ pattern
            let flags = (different &- ones) & ~different & highs
            if flags != 0 { return index &+ flags.trailingZeroBitCount >> 3 }
            index &+= 8
        }
        while index < end {
            if bytes[index] == octet { return index }
            index &+= 1
        }
        return nil
    }
}
