// SPDX-License-Identifier: MIT

/// Finds frame headers in a client's octets, for scripts.
///
/// It validates nothing, and takes the first 24 octets for the preface.
struct FrameScan {
    /// The length of the preface (RFC 9113 §3.4).
    private static let prefaceCount = 24
    private static let headCount = 9

    /// The number of octets of the preface or a payload that are still skipped.
    private var passed = Self.prefaceCount
    private var head: [UInt8] = []

    /// Takes the next octet. Returns whether it ends the header of a frame of the given type on the given stream.
    mutating func take(_ octet: UInt8, awaiting type: UInt8, on stream: UInt32) -> Bool {
        if passed > 0 {
            passed -= 1
            return false
        }
        head.append(octet)
        guard head.count == Self.headCount else { return false }
        passed = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        let number = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let isAwaited = head[3] == type && number == stream
        head.removeAll(keepingCapacity: true)
        return isAwaited
    }
}
