// SPDX-License-Identifier: MIT

/// Scans runs of octets, eight at a time where that does not read past the span.
///
/// Each word is assembled from eight checked subscripts; the compiler proves the checks once per word and emits a single load, so
/// the loops are as fast as unsafe ones (`Scripts/bench http`).
enum OctetScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Returns eight octets from `index`, the first in the lowest byte. The caller has checked that they exist.
    @inline(__always)
    static func word(_ bytes: Span<UInt8>, at index: Int) -> UInt64 {
        let eight = bytes.extracting(droppingFirst: index).extracting(first: 8)
        precondition(eight.count == 8, "a word past the end")
        let low =
            UInt64(eight[0]) | UInt64(eight[1]) << 8 | UInt64(eight[2]) << 16 | UInt64(eight[3]) << 24
        let high =
            UInt64(eight[4]) << 32 | UInt64(eight[5]) << 40 | UInt64(eight[6]) << 48 | UInt64(eight[7]) << 56
        return low | high
    }

    /// Returns eight octets from `index`, the first in the lowest byte, with zeros for those past the end. A span of fewer than
    /// eight octets gives only zeros. For scans that stop at a zero as at the end.
    @inline(__always)
    static func paddedWord(_ bytes: Span<UInt8>, at index: UInt32) -> UInt64 {
        let first = Int(index)
        guard first + 8 <= bytes.count else { return lastWord(bytes, at: first) }
        let low =
            UInt64(bytes[first]) | UInt64(bytes[first + 1]) << 8
            | UInt64(bytes[first + 2]) << 16 | UInt64(bytes[first + 3]) << 24
        let high =
            UInt64(bytes[first + 4]) << 32 | UInt64(bytes[first + 5]) << 40
            | UInt64(bytes[first + 6]) << 48 | UInt64(bytes[first + 7]) << 56
        return low | high
    }

    /// Returns the octets from `start` on, fewer than eight, padded with zeros: reads the last eight octets and shifts out those
    /// before `start`. Inlined, so that the loops around it keep their values in registers.
    @inline(__always)
    private static func lastWord(_ bytes: Span<UInt8>, at start: Int) -> UInt64 {
        let last = bytes.extracting(last: 8)
        guard last.count == 8 else { return 0 }
        let low = UInt64(last[0]) | UInt64(last[1]) << 8 | UInt64(last[2]) << 16 | UInt64(last[3]) << 24
        let high =
            UInt64(last[4]) << 32 | UInt64(last[5]) << 40 | UInt64(last[6]) << 48 | UInt64(last[7]) << 56
        return (low | high) >> (8 &* (start &+ 8 &- bytes.count))
    }

    /// Returns the first octet whose high bit is set in `flags`, which is not zero, and its index in the word.
    @inline(__always)
    static func firstFlagged(_ octets: UInt64, _ flags: UInt64) -> (octet: UInt8, index: UInt32) {
        // Rounds the bit's number down to a multiple of 8.
        let shift = UInt64(truncatingIfNeeded: flags.trailingZeroBitCount & 0x38)
        return (UInt8(truncatingIfNeeded: octets &>> shift), UInt32(truncatingIfNeeded: shift >> 3))
    }

    /// Returns flags, the high bits of octets, for octets that may not be allowed in a field value. The first octet that is not
    /// allowed is always flagged; `OctetClass` has to check each flagged octet.
    ///
    /// Subtracting 0x20 from a smaller octet borrows into its high bit, adding 1 to a DEL carries into it, and octets whose high
    /// bit is set (obs-text) are not flagged. A borrow or carry into the next octet can flag that octet wrongly.
    @inline(__always)
    static func flagsOutsideValues(_ octets: UInt64) -> UInt64 {
        ((octets &- 0x20 &* ones) | (octets &+ ones)) & ~octets & highs
    }

    /// Returns flags, the high bits of octets, for all octets that are neither letters nor dashes. Letters and dashes make up
    /// most names; `OctetClass` has to check each flagged octet, such as a digit or a colon. Sums carry only into higher octets,
    /// and only out of an octet that is flagged.
    ///
    /// Letters are in lower case 0x61 to 0x7A: one sum sets the high bit of octets from 0x61 on, the other of those from 0x7B on.
    /// The XOR makes a dash zero, so that adding 0x7F sets the high bit of all other octets.
    @inline(__always)
    static func flagsOutsideNames(_ octets: UInt64) -> UInt64 {
        let small = octets | (0x20 &* ones)
        let noLetters = ~(small &+ (0x80 - 0x61) &* ones) | (small &+ (0x80 - 0x7B) &* ones)
        let noDashes = ((octets ^ (0x2D &* ones)) &+ (0x7F &* ones)) & highs
        return (noLetters & noDashes) | (octets & highs)
    }

    /// Returns the first index in `start..<end` whose octet is not allowed in a field value, or `end`.
    @inline(__always)
    static func endOfValue(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int {
        var index = start
        while index &+ 8 <= end {
            let flags = flagsOutsideValues(word(bytes, at: index))
            if flags == 0 {
                index &+= 8
            } else {
                index &+= flags.trailingZeroBitCount >> 3
                if !OctetClass.contains(bytes[index], OctetClass.value) { return index }
                index &+= 1
            }
        }
        while index < end, OctetClass.contains(bytes[index], OctetClass.value) { index &+= 1 }
        return index
    }

    /// Returns the first index in `start..<end` whose octet is not allowed in a token, or `end`.
    @inline(__always)
    static func endOfToken(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int {
        var index = start
        while index &+ 8 <= end {
            let flags = flagsOutsideNames(word(bytes, at: index))
            if flags == 0 {
                index &+= 8
            } else {
                index &+= flags.trailingZeroBitCount >> 3
                if !OctetClass.contains(bytes[index], OctetClass.token) { return index }
                index &+= 1
            }
        }
        while index < end, OctetClass.contains(bytes[index], OctetClass.token) { index &+= 1 }
        return index
    }

    /// Compares the first eight octets of `start..<end` with `first` and the last eight with `last`, which are in lower case,
    /// ignoring case. The range has at least eight octets, and all of them are compared if there are at most sixteen.
    @inline(__always)
    static func isToken(_ bytes: Span<UInt8>, _ start: Int, _ end: Int, first: UInt64, last: UInt64) -> Bool {
        (word(bytes, at: start) | 0x20 &* ones) == first && (word(bytes, at: end &- 8) | 0x20 &* ones) == last
    }

    /// Whether a field value is exactly `keep-alive`, compared case-insensitively.
    static func isKeepAlive(_ value: Span<UInt8>) -> Bool {
        value.count == 10
            && isToken(value, 0, 10, first: keepAliveStart, last: keepAliveEnd)
    }

    // The octets of "keep-ali" and "ep-alive", the first in the lowest byte.
    private static let keepAliveStart: UInt64 = 0x696C_612D_7065_656B
    private static let keepAliveEnd: UInt64 = 0x6576_696C_612D_7065

    /// Returns the first index in `start..<end` that holds `octet`, or nil.
    @inline(__always)
    static func firstIndex(of octet: UInt8, _ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int? {
        let pattern = UInt64(octet) &* ones
        var index = start
        while index &+ 8 <= end {
            // Flags the zero octets of `different`. Subtracting 1 from a zero octet borrows from the next octet, so that an
            // octet after the first flagged one may be flagged wrongly, and only the first flag counts.
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
