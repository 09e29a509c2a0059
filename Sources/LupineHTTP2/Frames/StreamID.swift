// SPDX-License-Identifier: MIT

/// A stream identifier: 31 bits, 0 for the connection as a whole (RFC 9113 §5.1.1).
package struct StreamID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number, without the reserved bit.
    package let rawValue: UInt32

    /// Creates an identifier; the highest bit is reserved and ignored.
    package init(_ rawValue: UInt32) { self.rawValue = rawValue & 0x7FFF_FFFF }

    /// The connection as a whole.
    package static let connection = StreamID(0)
    /// The largest identifier.
    package static let largest = StreamID(0x7FFF_FFFF)

    /// Whether this identifier stands for the connection as a whole.
    package var isConnection: Bool { rawValue == 0 }
    /// Whether the client initiates the stream.
    package var isClientInitiated: Bool { rawValue & 1 == 1 }
    /// Whether the server initiates the stream.
    package var isServerInitiated: Bool { rawValue & 1 == 0 && rawValue != 0 }

    package static func < (left: StreamID, right: StreamID) -> Bool { left.rawValue < right.rawValue }

    package var description: String { String(rawValue) }
}
