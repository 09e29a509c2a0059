// SPDX-License-Identifier: MIT

import LupineCoding
import LupineTestKit
import Testing

/// Tests of gzip's checksum.
struct CRC32Tests {
    private static func sum(_ pieces: [UInt8]...) -> UInt32 {
        var sum = CRC32()
        for piece in pieces { sum.update(piece.span) }
        return sum.value
    }

    @Test(
        "known sums",
        arguments: [("", 0), ("a", 0xE8B7_BE43), ("123456789", 0xCBF4_3926)] as [(String, UInt32)])
    func knownSums(_ text: String, _ sum: UInt32) { #expect(Self.sum(Array(text.utf8)) == sum) }

    @Test("the sum of two pieces is that of the whole, wherever it is cut")
    func pieces() {
        let octets = Array("What is cut anywhere.".utf8)
        for cut in 0...octets.count {
            #expect(Self.sum(Array(octets[..<cut]), [], Array(octets[cut...])) == Self.sum(octets))
        }
    }
}
