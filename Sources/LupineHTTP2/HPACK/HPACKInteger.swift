// SPDX-License-Identifier: MIT

/// Encodes and decodes integers with a prefix of 1 to 8 bits: RFC 7541 §5.1.
///
/// The prefix is the low bits of the first octet. An integer that does not fit continues in further octets, of seven bits each.
enum HPACKInteger {
    /// The largest integer that is accepted. No sensible index, length or table size is larger.
    static let largest = Int(Int32.max)
    /// The largest number of octets that may follow the prefix: five hold 35 bits.
    private static let maximumContinuationOctets = 5
    /// The largest number of octets of an integer, including the one with the prefix.
    static let maximumOctets = 1 + maximumContinuationOctets

    /// Reads the integer whose prefix is the low `prefix` bits of the octet at `index`, and advances `index` past it.
    @inline(__always)
    static func decode(
        _ bytes: Span<UInt8>, at index: inout Int, prefix: Int
    ) throws(HPACKError) -> Int {
        guard index < bytes.count else { throw .truncated }
        let mask = (1 &<< prefix) &- 1
        let value = Int(bytes[index]) & mask
        index &+= 1
        // A prefix with all bits set means that the integer continues in the next octets.
        return value < mask ? value : try decodeContinuation(bytes, at: &index, prefixValue: value)
    }

    /// Reads the octets after a prefix whose bits are all set, which has the value `prefixValue`. Each octet has seven bits of
    /// the integer, the lowest first. The highest bit of each octet but the last is set.
    private static func decodeContinuation(
        _ bytes: Span<UInt8>, at index: inout Int, prefixValue: Int
    ) throws(HPACKError) -> Int {
        var value = prefixValue
        for position in 0..<maximumContinuationOctets {
            guard index < bytes.count else { throw .truncated }
            let octet = bytes[index]
            index &+= 1
            // At most `largest` + (127 << 28) in the last round, which is far from overflowing.
            value &+= Int(octet & 0x7F) &<< (7 &* position)
            guard value <= largest else { throw .integerOverflow }
            if octet & 0x80 == 0 { return value }
        }
        throw .integerOverflow
    }

    /// Writes an integer from 0 to `largest`; `pattern` holds the bits of the first octet that precede the prefix.
    static func encode(_ value: Int, prefix: Int, pattern: UInt8, into output: inout OutputSpan<UInt8>) {
        let mask = (1 &<< prefix) &- 1
        // A smaller value fits into the prefix. The prefix `mask`, with all bits set, means that the integer continues.
        guard value >= mask else { return output.append(pattern | UInt8(truncatingIfNeeded: value)) }
        output.append(pattern | UInt8(truncatingIfNeeded: mask))
        var remainder = value &- mask
        while remainder >= 0x80 {
            output.append(0x80 | UInt8(truncatingIfNeeded: remainder & 0x7F))
            remainder >>= 7
        }
        output.append(UInt8(truncatingIfNeeded: remainder))
    }
}
