// SPDX-License-Identifier: MIT

/// Finds frame headers in a client's octets, for scripts.
///
/// It validates nothing, and assumes that the first 24 octets are the preface.
struct FrameScanner {
    /// The length of the preface (RFC 9113 §3.4).
    private static let prefaceLength = 24
    private static let headerLength = 9

    /// The number of octets of the preface or a payload that are still skipped.
    private var octetsToSkip = Self.prefaceLength
    private var header: [UInt8] = []

    /// Consumes the next octet. Returns whether it ends the header of a frame of the given type on the given stream.
    mutating func consume(_ octet: UInt8, awaiting type: UInt8, on stream: UInt32) -> Bool {
        if octetsToSkip > 0 {
            octetsToSkip -= 1
            return false
        }
        header.append(octet)
        guard header.count == Self.headerLength else { return false }
        octetsToSkip = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        let number = header[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let isAwaited = header[3] == type && number == stream
        header.removeAll(keepingCapacity: true)
        return isAwaited
    }
}
