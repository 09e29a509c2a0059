// SPDX-License-Identifier: MIT

/// The memory account of one decoder, which limits the memory that a body can make the decoder use.
///
/// Before zlib or brotli allocates a block, its size is reserved here. A block that would exceed the limit is not allocated.
struct DecoderMemory {
    /// The maximum number of bytes that may be reserved at once.
    let limit: Int
    /// The number of bytes of the blocks that have not been freed.
    private(set) var reservedBytes = 0
    /// The maximum of `reservedBytes` since the account was created.
    private(set) var peak = 0

    init(limit: Int) { self.limit = limit }

    /// Reserves the bytes of a block. Returns false if they would exceed the limit.
    mutating func reserve(_ size: Int) -> Bool {
        guard size >= 0, size <= limit - reservedBytes else { return false }
        reservedBytes += size
        peak = max(peak, reservedBytes)
        return true
    }

    /// Releases the bytes of a block.
    mutating func release(_ size: Int) { reservedBytes -= size }
}
