// SPDX-License-Identifier: MIT

/// The memory account of one decoder: every block that zlib or brotli requests is reserved here first, and refused if it would
/// exceed the limit. So the memory bound of a decoder holds, whatever the peer sends.
struct DecoderMemory {
    /// The maximum number of bytes held at once.
    let limit: Int
    /// The bytes held now.
    private(set) var held = 0
    /// The maximum number of bytes held so far.
    private(set) var peak = 0

    init(limit: Int) { self.limit = limit }

    /// Reserves a block; returns false if that exceeds the limit.
    mutating func take(_ size: Int) -> Bool {
        guard size >= 0, size <= limit - held else { return false }
        held += size
        peak = max(peak, held)
        return true
    }

    /// Releases a block.
    mutating func give(_ size: Int) { held -= size }
}
