// SPDX-License-Identifier: MIT

/// The octets that the fuzzer chose, read from the front as choices and then as payload.
///
/// It is a copy, so that targets do not handle pointers. Reading past the end gives zeros: every input is valid, and a short one
/// is a simple case.
package struct FuzzInput {
    private let octets: [UInt8]
    private var place = 0

    /// Copies the input that libFuzzer passes to the entry point.
    package init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        unsafe octets = Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// Whether all octets have been read.
    package var isEmpty: Bool { place >= octets.count }

    /// Returns the next octet.
    package mutating func octet() -> UInt8 {
        guard place < octets.count else { return 0 }
        defer { place += 1 }
        return octets[place]
    }

    /// Returns a number below `bound`.
    package mutating func choice(below bound: Int) -> Int { Int(octet()) % bound }

    /// Returns the next `count` octets, or all that are left.
    package mutating func octets(_ count: Int) -> [UInt8] {
        let end = min(octets.count, place + count)
        defer { place = end }
        return Array(octets[place..<end])
    }

    /// Returns a run of octets that is preceded by its length.
    package mutating func piece() -> [UInt8] { octets(Int(octet())) }

    /// Returns all octets that have not been read.
    package mutating func rest() -> [UInt8] { octets(octets.count - place) }
}
