// SPDX-License-Identifier: MIT

/// Reads and compares octets eight at a time.
extension Span where Element == UInt8 {
    /// Returns the eight octets from `start` on as one little-endian number.
    @inline(__always)
    func word(at start: Int) -> UInt64 {
        // The compiler knows that this span has eight octets: it omits the index checks and emits a single load.
        let octets = extracting(start..<(start &+ 8))
        let first = UInt64(octets[0]) | UInt64(octets[1]) << 8
        let second = UInt64(octets[2]) << 16 | UInt64(octets[3]) << 24
        let third = UInt64(octets[4]) << 32 | UInt64(octets[5]) << 40
        return first | second | third | UInt64(octets[6]) << 48 | UInt64(octets[7]) << 56
    }

    /// Returns the octets of a span shorter than eight as one number. Of two spans of equal length, it is equal only if their
    /// octets are equal.
    @inline(__always)
    func shortWord() -> UInt64 {
        guard count >= 4 else {
            guard count > 0 else { return 0 }
            // The first, middle and last octet are all octets of a span of one, two or three.
            return UInt64(self[0]) | UInt64(self[count >> 1]) << 8 | UInt64(self[count &- 1]) << 16
        }
        // The two halves overlap: there are four to seven octets.
        return halfWord(at: 0) | halfWord(at: count &- 4) << 32
    }

    /// Returns the four octets from `start` on as one little-endian number.
    @inline(__always)
    private func halfWord(at start: Int) -> UInt64 {
        let octets = extracting(start..<(start &+ 4))
        let first = UInt64(octets[0]) | UInt64(octets[1]) << 8
        return first | UInt64(octets[2]) << 16 | UInt64(octets[3]) << 24
    }

    /// Returns whether two spans have the same octets.
    @inline(__always)
    func isSame(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        guard count >= 8 else { return shortWord() == other.shortWord() }
        var position = 0
        while position < count &- 8 {
            if word(at: position) != other.word(at: position) { return false }
            position &+= 8
        }
        // The last word may overlap the one before it.
        return word(at: count &- 8) == other.word(at: count &- 8)
    }
}
