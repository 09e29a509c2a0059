// SPDX-License-Identifier: MIT

/// A brotli stream of stored meta-blocks: the coding without the compression (RFC 7932 section 9.2).
enum BrotliStored {
    /// The longest meta-block of four length digits.
    private static let longest = 1 << 16

    /// The octets of a stream that decodes to `bytes`.
    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let count = min(longest, bytes.count - index)
            // ISLAST 0, MNIBBLES 00, MLEN - 1 in 16 bits, ISUNCOMPRESSED 1; zeros up to the octet. The first is
            // preceded by WBITS 0, a window of 64 KiB.
            let header = UInt32(count - 1) << 3 | 1 << 19
            let bits = index == 0 ? header << 1 : header
            output += [bits, bits >> 8, bits >> 16].map { UInt8(truncatingIfNeeded: $0) }
            output += bytes[index..<(index + count)]
            index += count
        }
        // ISLAST 1, ISLASTEMPTY 1; an empty stream begins with its window.
        output.append(bytes.isEmpty ? 0b110 : 0b11)
        return output
    }
}
