// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP2

/// Tests of integers (RFC 7541 §5.1 and Appendix C.1).
@Suite struct HPACKIntegerTests {
    struct Row: CustomTestStringConvertible {
        let title: String
        let prefix: Int
        let value: Int
        let bytes: String
        var testDescription: String { title }
    }

    static let rows: [Row] = [
        Row(title: "C.1.1: 10 with a prefix of 5 bits", prefix: 5, value: 10, bytes: "0a"),
        Row(title: "C.1.2: 1337 with a prefix of 5 bits", prefix: 5, value: 1337, bytes: "1f 9a 0a"),
        Row(title: "C.1.3: 42 from the start of an octet", prefix: 8, value: 42, bytes: "2a"),
        Row(title: "zero", prefix: 1, value: 0, bytes: "00"),
        Row(title: "the largest number in the prefix", prefix: 5, value: 30, bytes: "1e"),
        Row(title: "the first number after the prefix", prefix: 5, value: 31, bytes: "1f 00"),
        Row(title: "the largest number in one octet more", prefix: 5, value: 158, bytes: "1f 7f"),
        Row(title: "the first number in two octets more", prefix: 5, value: 159, bytes: "1f 80 01"),
        Row(
            title: "the largest number", prefix: 7, value: 2_147_483_647, bytes: "7f 80 ff ff ff 07"),
        Row(title: "the largest number, 8 bits", prefix: 8, value: 2_147_483_647, bytes: "ff 80 fe ff ff 07"),
    ]

    static func decoded(_ bytes: [UInt8], _ prefix: Int) throws(HPACKError) -> (value: Int, end: Int) {
        var position = 0
        let value = try HPACKInteger.decode(bytes.span, at: &position, prefix: prefix)
        return (value, position)
    }

    @Test(arguments: rows) func encodingAndDecoding(_ row: Row) throws {
        let bytes = Octets.hex(row.bytes)
        var output: [UInt8] = []
        output.append(addingCapacity: HPACKInteger.maximumOctets) {
            HPACKInteger.encode(row.value, prefix: row.prefix, pattern: 0, into: &$0)
        }
        #expect(output == bytes)
        let (value, end) = try Self.decoded(bytes + [0xFF], row.prefix)
        #expect(value == row.value)
        #expect(end == bytes.count)
        for cut in 0..<bytes.count {
            #expect(throws: HPACKError.truncated) { try Self.decoded(Array(bytes[..<cut]), row.prefix) }
        }
    }

    static let tooLarge: [(prefix: Int, bytes: String)] = [
        (7, "7f 81 ff ff ff 07"), (5, "1f e1 ff ff ff 07"), (5, "1f ff ff ff ff 0f"),
        (5, "1f ff ff ff ff ff 00"), (7, "7f 80 80 80 80 80 00"), (8, "ff ff ff ff ff ff ff ff ff ff ff 7f"),
        (1, "01 80 80 80 80 80 80 80 80 80 80 80 80 01"),
    ]

    @Test("[H-10.6] an integer that is too large or too long is refused", arguments: tooLarge)
    func refused(_ prefix: Int, _ bytes: String) {
        #expect(throws: HPACKError.integerOverflow) { try Self.decoded(Octets.hex(bytes), prefix) }
    }

    /// Checks that redundant zero octets are legal as long as they are few, and do not change the value.
    @Test func longerFormsOfSmallNumbers() throws {
        #expect(try Self.decoded(Octets.hex("1f 80 00"), 5).value == 31)
        #expect(try Self.decoded(Octets.hex("1f 80 80 80 80 00"), 5).value == 31)
    }

    @Test func everyPrefixKeepsItsPattern() throws {
        for prefix in 1...8 {
            let pattern = UInt8(truncatingIfNeeded: 0xFF << prefix)
            for value in (0..<600).map({ $0 * $0 }) {
                var output: [UInt8] = []
                output.append(addingCapacity: HPACKInteger.maximumOctets) {
                    HPACKInteger.encode(value, prefix: prefix, pattern: pattern, into: &$0)
                }
                #expect(output[0] & pattern == pattern)
                let (decoded, end) = try Self.decoded(output, prefix)
                #expect(decoded == value && end == output.count)
            }
        }
    }
}
