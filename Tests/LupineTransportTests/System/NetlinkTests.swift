// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTransport

/// Datagrams as a kernel sent them (little-endian), in hexadecimal.
@Suite struct NetlinkTests {
    /// RTM_NEWLINK: lo, index 1, up and running, with its name and length of queue.
    static let link = """
        2c000000 1000 0000 00000000 00000000
        00 00 0403 01000000 49000100 00000000
        0700 0300 6c6f00 00  0400 f480
        """
    /// RTM_NEWADDR: 10.1.2.3/24 on interface 2.
    static let address = """
        28000000 1400 0000 00000000 00000000
        02 18 80 00 02000000
        0800 0100 0a010203 0800 0200 0a010203
        """
    /// RTM_NEWROUTE in answer to request 7 of port 99: 8.8.8.8 through 10.1.2.1 on 2, from 10.1.2.3.
    static let route = """
        44000000 1800 0000 07000000 63000000
        02 20 00 00 fe 00 00 01 00020000
        0800 0f00 fe000000 0800 0100 08080808 0800 0500 0a010201 0800 0400 02000000 0800 0700 0a010203
        """
    /// NLMSG_ERROR: ENETUNREACH for request 8.
    static let failure = "24000000 0200 0000 08000000 63000000 9bffffff 1c000000 1a00 0100 08000000 00000000"

    private func bytes(_ text: String) -> [UInt8] {
        let digits = text.filter { !$0.isWhitespace }
        return stride(from: 0, to: digits.count, by: 2).compactMap { offset in
            let start = digits.index(digits.startIndex, offsetBy: offset)
            return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16)
        }
    }

    private func ip(_ text: String) -> IPAddress { .v4(IPv4Address(text) ?? .any) }

    @Test func recordedMessagesAreRead() throws {
        let all = bytes(Self.link) + bytes(Self.address) + bytes(Self.route) + bytes(Self.failure)
        let messages = try Netlink.messages(in: all.span)
        #expect(
            messages == [
                .init(
                    port: 0, sequence: 0,
                    content: .event(.link(NetworkLink(index: 1, name: "lo", hardware: 772, flags: 0x10049)))),
                .init(
                    port: 0, sequence: 0,
                    content: .event(
                        .address(InterfaceAddress(interface: 2, address: ip("10.1.2.3"), prefixLength: 24)))),
                .init(
                    port: 99, sequence: 7,
                    content: .event(
                        .route(
                            Route(
                                destination: ip("8.8.8.8"), prefixLength: 32, gateway: ip("10.1.2.1"),
                                interface: 2, source: ip("10.1.2.3"), table: 254, kind: 1)))),
                .init(port: 99, sequence: 8, content: .error(number: 101)),
            ])
        guard case .event(.link(let link)) = messages[0].content else { return }
        #expect(link.isUp && link.isLoopback && link.isRunning)
    }

    @Test(arguments: [link, address, route, failure])
    func truncatedMessagesAreNeverOverrun(_ text: String) {
        let message = bytes(text)
        for cut in 1..<message.count {
            #expect(throws: NetlinkError.self, "cut at \(cut)") {
                _ = try Netlink.messages(in: message.span.extracting(first: cut))
            }
            // The length in the header is made to agree, so that the attributes are cut.
            guard cut >= 16 else { continue }
            var shortened = Array(message[..<cut])
            shortened[0] = UInt8(cut)
            _ = try? Netlink.messages(in: shortened.span)
        }
    }

    @Test func randomDamageNeverReachesBeyondTheBytes() {
        var random = SeededRandom(seed: 11)
        let message = bytes(Self.link) + bytes(Self.address) + bytes(Self.route) + bytes(Self.failure)
        for _ in 0..<20_000 {
            var damaged = message
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            _ = try? Netlink.messages(in: damaged.span)
        }
    }

    @Test(arguments: [
        ("00000000 1000 0000 00000000 00000000", NetlinkError.malformedMessage(length: 0, available: 16)),
        ("11000000 1000 0000 00000000 00000000", .malformedMessage(length: 17, available: 16)),
        ("10000000 1000 0000 00000000 00000000", .truncated(type: 16)),
        ("10000000 0200 0000 00000000 00000000", .truncated(type: 2)),
        (
            "1c000000 1400 0000 00000000 00000000 02180000 02000000 0300 0100",
            .malformedAttribute(length: 3, available: 4)
        ),
        (
            "1c000000 1400 0000 00000000 00000000 02180000 02000000 0900 0100",
            .malformedAttribute(length: 9, available: 4)
        ),
    ])
    func malformedLengthsAreReported(_ text: String, _ error: NetlinkError) {
        let datagram = bytes(text)
        #expect(throws: error) { _ = try Netlink.messages(in: datagram.span) }
    }

    @Test func requestsHaveTheFormatOfTheKernel() {
        #expect(
            Netlink.routeRequest(to: ip("8.8.8.8"), sequence: 7)
                == bytes("24000000 1a00 0100 07000000 00000000 02200000 00000000 00000000 0800 0100 08080808")
        )
        #expect(
            Netlink.linksRequest(sequence: 1)
                == bytes("20000000 1200 0103 01000000 00000000") + [UInt8](repeating: 0, count: 16))
    }
}
