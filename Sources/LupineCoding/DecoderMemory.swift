// SPDX-License-Identifier: MIT

/// The memory account of one decoder. Every block that zlib or brotli requests is first reserved here, and refused if it would
/// exceed the limit, so that no body can make the decoder use more.
struct DecoderMemory {
    /// The maximum number of bytes reserved at once.
    let limit: Int
    /// The bytes reserved now.
    private(set) var reserved = 0
    /// The maximum number of bytes reserved at once so far.
    private(set) var peak = 0

    init(limit: Int) { self.limit = limit }

    /// Reserves a block; returns false if that exceeds the limit.
    mutating func reserve(_ size: Int) -> Bool {
        guard size >= 0, size <= limit - reserved else { return false }
        reserved += size
        peak = max(peak, reserved)
        return true
    }

    /// Releases a block.
    mutating func release(_ size: Int) { reserved -= size }
}
