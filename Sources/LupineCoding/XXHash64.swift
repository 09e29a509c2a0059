// SPDX-License-Identifier: MIT

/// The 64-bit hash XXH64 of the xxHash specification, with the seed 0. It detects accidental changes, several times faster than a
/// CRC, but an attacker can recompute it.
package enum XXHash64 {
    private static let primes: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
        0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63,
        0x27D4_EB2F_1656_67C5
    )

    /// Returns the hash of these octets.
    package static func hash(of octets: Span<UInt8>) -> UInt64 {
        var position = 0
        var hash = octets.count < 32 ? primes.4 : hashOfStripes(octets, &position)
        hash &+= UInt64(octets.count)
        while position &+ 8 <= octets.count {
            hash ^= round(0, number(octets, at: position, count: 8))
            hash = rotated(hash, by: 27) &* primes.0 &+ primes.3
            position &+= 8
        }
        if position &+ 4 <= octets.count {
            hash ^= number(octets, at: position, count: 4) &* primes.0
            hash = rotated(hash, by: 23) &* primes.1 &+ primes.2
            position &+= 4
        }
        for index in position..<octets.count {
            hash ^= UInt64(octets[index]) &* primes.4
            hash = rotated(hash, by: 11) &* primes.0
        }
        hash = (hash ^ hash >> 33) &* primes.1
        hash = (hash ^ hash >> 29) &* primes.2
        return hash ^ hash >> 32
    }

    /// Returns the combined accumulators of all whole stripes, each of 32 octets, and moves `position` behind them.
    private static func hashOfStripes(_ octets: Span<UInt8>, _ position: inout Int) -> UInt64 {
        var (first, second) = (primes.0 &+ primes.1, primes.1)
        var (third, fourth) = (UInt64(0), 0 &- primes.0)
        while position &+ 32 <= octets.count {
            first = round(first, number(octets, at: position, count: 8))
            second = round(second, number(octets, at: position &+ 8, count: 8))
            third = round(third, number(octets, at: position &+ 16, count: 8))
            fourth = round(fourth, number(octets, at: position &+ 24, count: 8))
            position &+= 32
        }
        var hash = rotated(first, by: 1) &+ rotated(second, by: 7)
        hash = hash &+ rotated(third, by: 12) &+ rotated(fourth, by: 18)
        for accumulator in [first, second, third, fourth] {
            hash = (hash ^ round(0, accumulator)) &* primes.0 &+ primes.3
        }
        return hash
    }

    /// Mixes eight octets into an accumulator.
    @inline(__always)
    private static func round(_ accumulator: UInt64, _ input: UInt64) -> UInt64 {
        rotated(accumulator &+ input &* primes.1, by: 31) &* primes.0
    }

    @inline(__always)
    private static func rotated(_ value: UInt64, by count: UInt64) -> UInt64 {
        value << count | value >> (64 &- count)
    }

    /// Returns octets as a little-endian number. With a constant count it is a single load.
    @inline(__always)
    private static func number(_ octets: Span<UInt8>, at start: Int, count: Int) -> UInt64 {
        let octets = octets.extracting(start..<(start &+ count))
        var number: UInt64 = 0
        for index in 0..<count { number |= UInt64(octets[index]) << UInt64(8 &* index) }
        return number
    }
}
