// SPDX-License-Identifier: MIT

/// Finds HTTP/2 frame headers in a client's octets, for scripts.
///
/// The scanner validates nothing, and assumes that the first 24 octets are the connection preface.
struct FrameScanner {
    /// The length of the preface (RFC 9113 §3.4).
    private static let prefaceLength = 24
    /// The length of a frame header: length (3 octets), type (1), flags (1), stream identifier (4) (RFC 9113 §4.1).
    private static let headerLength = 9

    /// The number of octets of the preface or a payload that precede the next frame header.
    private var octetsToSkip = Self.prefaceLength
    /// The octets of the next frame header that have arrived.
    private var header: [UInt8] = []

    /// Consumes the next octet. Returns whether the octet ends the header of a frame of the given type on the given stream.
    mutating func consume(_ octet: UInt8, awaiting type: UInt8, on stream: UInt32) -> Bool {
        if octetsToSkip > 0 {
            octetsToSkip -= 1
            return false
        }
        header.append(octet)
        guard header.count == Self.headerLength else { return false }
        octetsToSkip = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        // The highest bit of the stream identifier is reserved.
        let streamID = header[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let isAwaited = header[3] == type && streamID == stream
        header.removeAll(keepingCapacity: true)
        return isAwaited
    }
}
