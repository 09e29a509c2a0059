// SPDX-License-Identifier: MIT

/// Scans octets for the end of a token or a value, eight at a time: as one word, an integer of 64 bits.
///
/// The function `word` assembles an integer from eight checked subscripts. The compiler replaces them by one check and one load,
/// so the loops are as fast as with unsafe pointers (`Scripts/bench http`).
enum OctetScan {
    /// The number 1 in each octet of a word. The product with a number below 256 has that number in each octet.
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    /// The high bit of each octet of a word.
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Returns the eight octets from `index` on as a word, the first in the lowest byte. Traps if there are fewer than eight.
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

    /// Returns the eight octets from `index` on as a word, the first in the lowest byte, with zeros in place of those past the
    /// end. Returns zero if the whole span has fewer than eight octets. Only for scans that stop at a zero octet, as at the end.
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

    /// Returns the octets from `start` on, which are fewer than eight, padded with zeros. Reads the last eight octets of the span
    /// and shifts out those before `start`. Inlined, so that the loops around the call keep their values in registers.
    @inline(__always)
    private static func lastWord(_ bytes: Span<UInt8>, at start: Int) -> UInt64 {
        let last = bytes.extracting(last: 8)
        guard last.count == 8 else { return 0 }
        let low = UInt64(last[0]) | UInt64(last[1]) << 8 | UInt64(last[2]) << 16 | UInt64(last[3]) << 24
        let high =
            UInt64(last[4]) << 32 | UInt64(last[5]) << 40 | UInt64(last[6]) << 48 | UInt64(last[7]) << 56
        return (low | high) >> (8 &* (start &+ 8 &- bytes.count))
    }

    /// Returns the first octet in `octets` whose high bit is set in `flags`, and its index in the word. `flags` is not zero.
    @inline(__always)
    static func firstFlagged(_ octets: UInt64, _ flags: UInt64) -> (octet: UInt8, index: UInt32) {
        // Rounds the bit's number down to a multiple of 8.
        let shift = UInt64(truncatingIfNeeded: flags.trailingZeroBitCount & 0x38)
        return (UInt8(truncatingIfNeeded: octets &>> shift), UInt32(truncatingIfNeeded: shift >> 3))
    }

    /// Returns a word in which the high bit of an octet, its flag, is set if the octet may be forbidden in a field value. The
    /// first forbidden octet is always flagged. A flagged octet may also be allowed: the caller checks it with `OctetClass`.
    ///
    /// The subtraction of 0x20 sets the high bit of a control character, and the addition of 1 that of DEL (0x7F). Octets from
    /// 0x80 on (obs-text) are allowed, so `~octets` clears their flags. A borrow or carry can flag the octet after a flagged one
    /// wrongly.
    @inline(__always)
    static func flagsOutsideValues(_ octets: UInt64) -> UInt64 {
        ((octets &- 0x20 &* ones) | (octets &+ ones)) & ~octets & highBits
    }

    /// Returns a word in which the high bit of an octet, its flag, is set if the octet is neither a letter nor a dash. Most field
    /// names consist of letters and dashes. The caller checks each flagged octet, such as a digit or a colon, with `OctetClass`.
    ///
    /// Lower-case letters are 0x61 to 0x7A: one sum sets the high bit of octets from 0x61 on, the other that of octets from 0x7B
    /// on. The XOR makes a dash (0x2D) zero, so that adding 0x7F sets the high bit of all other octets. A sum can carry only out
    /// of an octet that is flagged, into the octets after it. The first flag is therefore always right.
    @inline(__always)
    static func flagsOutsideNames(_ octets: UInt64) -> UInt64 {
        let lowercased = octets | (0x20 &* ones)
        let noLetters = ~(lowercased &+ (0x80 - 0x61) &* ones) | (lowercased &+ (0x80 - 0x7B) &* ones)
        let noDashes = ((octets ^ (0x2D &* ones)) &+ (0x7F &* ones)) & highBits
        return (noLetters & noDashes) | (octets & highBits)
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
                // Skips the octets before the first flagged one, and checks that one.
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
                // Skips the octets before the first flagged one, and checks that one.
                index &+= flags.trailingZeroBitCount >> 3
                if !OctetClass.contains(bytes[index], OctetClass.token) { return index }
                index &+= 1
            }
        }
        while index < end, OctetClass.contains(bytes[index], OctetClass.token) { index &+= 1 }
        return index
    }

    /// Whether the octets in `start..<end` begin with the eight octets of `first` and end with the eight of `last`, compared
    /// case-insensitively. `first` and `last` are words of lower-case letters and dashes. The range has 8 to 16 octets, so that
    /// the two words cover all of them.
    @inline(__always)
    static func isToken(_ bytes: Span<UInt8>, _ start: Int, _ end: Int, first: UInt64, last: UInt64) -> Bool {
        // The bit 0x20 makes letters lower-case, and leaves a dash unchanged.
        (word(bytes, at: start) | 0x20 &* ones) == first && (word(bytes, at: end &- 8) | 0x20 &* ones) == last
    }

    /// Whether a field value is exactly `keep-alive`, compared case-insensitively.
    static func isKeepAlive(_ value: Span<UInt8>) -> Bool {
        value.count == 10
            && isToken(value, 0, 10, first: keepAliveStart, last: keepAliveEnd)
    }

    // The first and the last eight octets of "keep-alive": "keep-ali" and "ep-alive", the first in the lowest byte.
    private static let keepAliveStart: UInt64 = 0x696C_612D_7065_656B
    private static let keepAliveEnd: UInt64 = 0x6576_696C_612D_7065

    /// Returns the first index in `start..<end` at which the octet is `octet`, or nil.
    @inline(__always)
    static func firstIndex(of octet: UInt8, _ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int? {
        let pattern = UInt64(octet) &* ones
        var index = start
        while index &+ 8 <= end {
            // An octet of `differences` is zero where the octet was found. Subtracting 1 from zero sets the high bit, the flag,
            // and borrows from the next octet, which may then be flagged wrongly. Only the first flag is used.
            let differences = word(bytes, at: index) ^ pattern
            let flags = (differences &- ones) & ~differences & highBits
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
