// SPDX-License-Identifier: MIT

/// The octets that the fuzzer has chosen. A target reads them from the front: first choices, then content.
///
/// They are a copy, so that targets do not handle pointers. Reading past the end returns zeros, so that every input is valid,
/// and a short one is a simple case.
package struct FuzzInput {
    private let octets: [UInt8]
    private var position = 0

    /// Copies the input that libFuzzer passes to the entry point.
    package init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        unsafe octets = Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// Whether all octets have been read.
    package var isEmpty: Bool { position >= octets.count }

    /// Returns the next octet; 0 at the end.
    package mutating func readOctet() -> UInt8 {
        guard position < octets.count else { return 0 }
        defer { position += 1 }
        return octets[position]
    }

    /// Reads an octet, and returns a number below `bound`.
    package mutating func readNumber(below bound: Int) -> Int { Int(readOctet()) % bound }

    /// Returns the next `count` octets, or all that are left.
    package mutating func readOctets(_ count: Int) -> [UInt8] {
        let end = min(octets.count, position + count)
        defer { position = end }
        return Array(octets[position..<end])
    }

    /// Reads an octet as a length, and returns that number of octets, or all that are left.
    package mutating func readPiece() -> [UInt8] { readOctets(Int(readOctet())) }

    /// Returns all octets that have not been read.
    package mutating func readRemaining() -> [UInt8] { readOctets(octets.count - position) }
}
