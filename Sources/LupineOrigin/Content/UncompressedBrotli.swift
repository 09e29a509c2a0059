// SPDX-License-Identifier: MIT

/// Encodes a brotli stream of uncompressed meta-blocks (RFC 7932 section 9.2).
enum UncompressedBrotli {
    /// The maximum length of a meta-block whose length field has four nibbles.
    private static let maximumLength = 1 << 16

    /// Returns a stream that decodes to `bytes`.
    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let count = min(maximumLength, bytes.count - index)
            // The fields of the header, from the lowest bit: ISLAST 0, MNIBBLES 00, MLEN - 1 in 16 bits, ISUNCOMPRESSED 1,
            // then zeros up to the next octet. The first header is preceded by WBITS 0, a window of 64 KiB.
            let header = UInt32(count - 1) << 3 | 1 << 19
            let bits = index == 0 ? header << 1 : header
            output += [bits, bits >> 8, bits >> 16].map { UInt8(truncatingIfNeeded: $0) }
            output += bytes[index..<(index + count)]
            index += count
        }
        // The last, empty meta-block: ISLAST 1, ISLASTEMPTY 1. In an empty stream, WBITS precedes them.
        output.append(bytes.isEmpty ? 0b110 : 0b11)
        return output
    }
}
