// SPDX-License-Identifier: MIT

/// The Huffman code of RFC 7541, Appendix B, and its encoder.
///
/// A symbol is an octet, from 0 to 255, or EOS. The code is canonical: if the symbols are sorted by the length of their code and
/// then by number, each code is the previous one plus one, extended with zeros to its length. The codes are therefore derived
/// from their lengths, once.
enum HuffmanCode {
    /// The EOS symbol. A string may never contain its code; the padding of a string consists of the first bits of that code.
    static let endOfString = 256

    /// The length in bits of the code of each octet, and of EOS.
    static let lengths: [UInt8] = [
        // 00-1F
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
        28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        // SP ! " # $ % & ' ( ) * + , - . /
        6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
        // 0-9 : ; < = > ?
        5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
        // @ A-O
        13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
        // P-Z [ \ ] ^ _
        7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        // ` a-o
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
        // p-z { | } ~ DEL
        6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
        // 80-BF
        20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
        24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
        22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
        21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
        // C0-FF
        26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
        19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
        20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
        26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
        // EOS
        30,
    ]

    /// The code of each symbol. The last bit of the code is the lowest bit of the number.
    static let codes: [UInt32] = {
        var codes = [UInt32](repeating: 0, count: lengths.count)
        var code: UInt32 = 0
        // The longest code has 30 bits.
        for length in 1...30 {
            for symbol in lengths.indices where Int(lengths[symbol]) == length {
                codes[symbol] = code
                code &+= 1
            }
            code <<= 1
        }
        return codes
    }()

    /// Returns the number of octets that the encoded `bytes` take, including padding.
    static func encodedCount(_ bytes: Span<UInt8>) -> Int {
        let lengths = lengths.span
        var bits = 0
        for index in bytes.indices { bits &+= Int(lengths[Int(bytes[index])]) }
        return (bits &+ 7) >> 3
    }

    /// The code of each symbol, and in the low eight bits the length of the code.
    private static let codesWithLengths: [UInt64] = lengths.indices.map {
        UInt64(codes[$0]) << 8 | UInt64(lengths[$0])
    }

    /// Appends the encoded `bytes` to `output`, and fills the last octet with ones. Returns false, and appends nothing, if that
    /// takes more than `limit` octets.
    static func encode(
        _ bytes: Span<UInt8>, atMost limit: Int, into output: inout OutputSpan<UInt8>
    ) -> Bool {
        let codesWithLengths = codesWithLengths.span
        let start = output.count
        // The octets that may still be written.
        var room = limit
        // The lowest `pending` bits of `bits` have not been written.
        var bits: UInt64 = 0
        var pending: UInt64 = 0
        for index in bytes.indices {
            let codeWithLength = codesWithLengths[Int(bytes[index])]
            let length = codeWithLength & 0xFF
            // 64 bits have room for the pending bits, fewer than 32, and for the code, at most 30.
            bits = bits &<< length | codeWithLength &>> 8
            pending &+= length
            guard pending >= 32 else { continue }
            room &-= 4
            guard room >= 0 else {
                output.removeLast(output.count &- start)
                return false
            }
            // Writes the 32 highest of the pending bits.
            pending &-= 32
            let word = bits &>> pending
            output.append(UInt8(truncatingIfNeeded: word &>> 24))
            output.append(UInt8(truncatingIfNeeded: word &>> 16))
            output.append(UInt8(truncatingIfNeeded: word &>> 8))
            output.append(UInt8(truncatingIfNeeded: word))
        }
        // The number of octets that the pending bits take.
        guard Int(truncatingIfNeeded: pending &+ 7) >> 3 <= room else {
            output.removeLast(output.count &- start)
            return false
        }
        // A word of 32 bits with the pending bits at the top, and ones below them.
        let free = 32 &- pending
        let word = bits &<< free | ((1 as UInt64) &<< free &- 1)
        if pending > 0 { output.append(UInt8(truncatingIfNeeded: word &>> 24)) }
        if pending > 8 { output.append(UInt8(truncatingIfNeeded: word &>> 16)) }
        if pending > 16 { output.append(UInt8(truncatingIfNeeded: word &>> 8)) }
        if pending > 24 { output.append(UInt8(truncatingIfNeeded: word)) }
        return true
    }
}
