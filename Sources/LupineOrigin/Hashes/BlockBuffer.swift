// SPDX-License-Identifier: MIT

/// The part that all hash functions share: it collects octets into blocks, and pads the last one (RFC 1321 section 3.1,
/// FIPS 180-4 section 5.1).
struct BlockBuffer {
    private let size: Int
    private var pending: [UInt8] = []
    private var total: UInt64 = 0

    /// Creates a buffer for blocks of `size` octets.
    init(size: Int) {
        self.size = size
        pending.reserveCapacity(size)
    }

    /// Adds octets and calls `compress` with each block that they complete.
    mutating func add(_ bytes: Span<UInt8>, _ compress: (Span<UInt8>) -> Void) {
        total &+= UInt64(bytes.count)
        var index = 0
        if !pending.isEmpty {
            let count = min(size - pending.count, bytes.count)
            while index < count {
                pending.append(bytes[index])
                index += 1
            }
            guard pending.count == size else { return }
            compress(pending.span)
            pending.removeAll(keepingCapacity: true)
        }
        while bytes.count - index >= size {
            compress(bytes.extracting(index..<(index + size)))
            index += size
        }
        while index < bytes.count {
            pending.append(bytes[index])
            index += 1
        }
    }

    /// Ends the message: a one bit, zeros, and the length in bits in the last `lengthBytes` octets.
    mutating func finish(lengthBytes: Int, bigEndian: Bool, _ compress: (Span<UInt8>) -> Void) {
        let bits = total &* 8
        pending.append(0x80)
        while pending.count % size != size - lengthBytes { pending.append(0) }
        var length = [UInt8](repeating: 0, count: lengthBytes)
        for index in 0..<8 {
            let octet = UInt8(truncatingIfNeeded: bits >> (8 * UInt64(index)))
            length[bigEndian ? lengthBytes - 1 - index : index] = octet
        }
        pending += length
        let blocks = pending.span
        var index = 0
        while index < blocks.count {
            compress(blocks.extracting(index..<(index + size)))
            index += size
        }
    }
}
