// SPDX-License-Identifier: MIT

/// The account of one decoder's memory: every block that zlib or brotli asks for is booked here first, and refused
/// when it would cross the limit. So the bound that a decoder states is a bound that holds, whatever the peer sends.
struct DecoderMemory {
    /// Most bytes that may be held at once.
    let limit: Int
    /// Bytes held now.
    private(set) var held = 0
    /// Most bytes held so far.
    private(set) var peak = 0

    init(limit: Int) { self.limit = limit }

    /// Books a block, or says no.
    mutating func take(_ size: Int) -> Bool {
        guard size >= 0, size <= limit - held else { return false }
        held += size
        peak = max(peak, held)
        return true
    }

    /// Returns a block.
    mutating func give(_ size: Int) { held -= size }
}
