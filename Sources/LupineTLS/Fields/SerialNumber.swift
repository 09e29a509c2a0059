// SPDX-License-Identifier: MIT

/// The serial number of a certificate (RFC 5280 §4.1.2.2), including invalid ones: zero, negative, longer than 20 bytes.
public struct SerialNumber: Sendable, Hashable, CustomStringConvertible {
    /// The content of the INTEGER: two's complement, most significant byte first.
    public let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Upper-case hexadecimal without leading zero bytes; with a minus sign when negative.
    public var description: String {
        let isNegative = (bytes.first ?? 0) & 0x80 != 0
        var magnitude = bytes
        // The magnitude of a negative number in two's complement: invert all bits, then add 1.
        if isNegative {
            var carry = true
            for index in magnitude.indices.reversed() {
                magnitude[index] = ~magnitude[index]
                if carry { (magnitude[index], carry) = magnitude[index].addingReportingOverflow(1) }
            }
        }
        let digits = magnitude.drop { $0 == 0 }
        return (isNegative ? "-" : "") + (digits.isEmpty ? "00" : Hexadecimal.uppercase(Array(digits)))
    }
}
