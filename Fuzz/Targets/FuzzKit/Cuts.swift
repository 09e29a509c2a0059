// SPDX-License-Identifier: MIT

/// The division of a stream of octets into the pieces in which it arrives.
package struct Cuts {
    /// The lengths of the pieces, used cyclically.
    private let lengths: [Int]

    /// One piece.
    package static let none = Cuts(lengths: [Int.max])
    /// One piece per octet.
    package static let everywhere = Cuts(lengths: [1])

    private init(lengths: [Int]) { self.lengths = lengths }

    /// Reads three lengths from the input.
    package init(_ input: inout FuzzInput) {
        lengths = (0..<3).map { _ in Int(input.readOctet()) + 1 }
    }

    /// Returns the pieces of `octets`, in order.
    package func pieces(of octets: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < octets.count {
            let length = min(lengths[pieces.count % lengths.count], octets.count - start)
            pieces.append(Array(octets[start..<(start + length)]))
            start += length
        }
        return pieces
    }
}
