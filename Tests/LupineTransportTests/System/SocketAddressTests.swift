// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTransport

@Suite struct SocketAddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
        ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:DB8::1", "2001:db8::1"),
        ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
        ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("::ffff:1.2.3.4", "::ffff:1.2.3.4"),
        ("64:ff9b::192.0.2.1", "64:ff9b::c000:201"), ("1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"),
        ("fe80::1%7", "fe80::1%7"), ("::1%lo", "::1%1"),
    ])
    func literalsAreReadAndWritten(_ text: String, _ printed: String) throws {
        let address = try #require(SocketAddress(literal: text, port: 80))
        #expect(address.host == printed)
        #expect(address.port == 80)
        let bracketed = address.isIPv6 ? "[\(printed)]:80" : "\(printed):80"
        #expect(address.description == bracketed)
    }

    @Test(arguments: [
        "", ".", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.", ".1.2.3", "0x7f.1", "1.2.3.4 ",
        "1.2.3.+4", ":", ":::", "1", "1:2", ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", "1:2:3:4:5:6:7:8:9",
        "1::2::3", "12345::", "g::", "::1.2.3", "1.2.3.4::", "::1.2.3.4:5", "::1%", "::1%0",
        "::1%no-such-interface", "::1%99999999999", "1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5:6:7:8::", "::%",
        "1.2.3.-4", "1..2.3", "1:", ":1", "1:2:3:4:5:6:7", "::12345", "::g", "localhost", "[::1]",
        "1.2.3.4%1", "::-1", "：：1", "::1\0",
    ])
    func otherTextIsNotALiteral(_ text: String) {
        #expect(SocketAddress(literal: text, port: 80) == nil)
        #expect(IPAddress(text) == nil)
    }

    @Test(
        arguments: [
            ("1.2.3.4", [1, 2, 3, 4]), ("255.255.255.255", [255, 255, 255, 255]),
            ("::", [UInt8](repeating: 0, count: 16)), ("1::", [0, 1] + [UInt8](repeating: 0, count: 14)),
            ("1:2:3:4:5:6:7::", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0]),
            ("1:2:3:4:5:6:1.2.3.4", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 1, 2, 3, 4]),
            ("FFFF::abcd", [255, 255] + [UInt8](repeating: 0, count: 12) + [0xAB, 0xCD]),
        ] as [(String, [UInt8])])
    func octetsOfAddresses(_ text: String, _ bytes: [UInt8]) {
        #expect(IPAddress(text)?.octets == bytes)
    }

    @Test(arguments: [
        ("::ffff:1.2.3.4", "1.2.3.4"), ("::1.2.3.4", "::102:304"), ("1::ffff:1.2.3.4", "1::ffff:102:304"),
        ("1.2.3.4", "1.2.3.4"),
    ])
    func onlyAMappedAddressIsUnmapped(_ text: String, _ unmapped: String) {
        #expect(IPAddress(text)?.unmapped.description == unmapped)
    }

    @Test func randomIPv6AddressesSurviveTheirText() throws {
        var random = SeededRandom(seed: 3)
        for _ in 0..<2000 {
            let mask = UInt64.random(in: 0...UInt64.max, using: &random)
            var halves: [UInt64] = []
            for half in 0..<2 {
                var value: UInt64 = 0
                for group in 0..<4 where mask >> UInt64(half * 4 + group) & 1 == 1 {
                    value |= UInt64.random(in: 0...0xffff, using: &random) << UInt64(16 * group)
                }
                halves.append(value)
            }
            let address = IPv6Address(high: halves[0], low: halves[1])
            #expect(IPv6Address(address.description) == address, "\(address)")
        }
    }

    @Test(arguments: [
        SocketAddress.ipv4(.loopback, port: 0), .ipv6(.loopback, port: 0, zone: 0),
        .unixAbstract(name: [0, 1, 255, 0, 66]), .unixAbstract(name: Array(repeating: 97, count: 107)),
    ])
    func addressesSurviveTheKernel(_ address: SocketAddress) throws {
        let socket = try Socket.stream(for: address)
        try socket.bind(to: address)
        let bound = try #require(try socket.localAddress())
        #expect(bound.with(port: 0) == address)
        if let port = bound.port { #expect(port != 0) }
    }

    @Test func unusableNamesAreRefused() throws {
        let socket = try Socket.stream(for: .unixUnnamed)
        for (address, error) in [
            (SocketAddress.unix(path: String(repeating: "a", count: 108)), Errno.nameTooLong),
            (.unix(path: ""), .invalidArgument), (.unix(path: "a\0b"), .invalidArgument),
            (.unixAbstract(name: Array(repeating: 97, count: 108)), .nameTooLong),
        ] {
            let bindError = thrown { () throws(Errno) in _ = try socket.bind(to: address) }
            #expect(bindError == error)
        }
    }

    @Test func errnosHaveNamesAndTexts() {
        #expect(Errno.connectionRefused.description == "ECONNREFUSED (Connection refused)")
        #expect(Errno(rawValue: 99_999).description == "errno 99999 (unknown error)")
    }
}
