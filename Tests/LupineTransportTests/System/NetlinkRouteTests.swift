// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

/// Routes with several next hops, and the request for all routes.
@Suite struct NetlinkRouteTests {
    private func bytes(_ text: String) -> [UInt8] {
        let digits = text.filter { !$0.isWhitespace }
        return stride(from: 0, to: digits.count, by: 2).compactMap { offset in
            let start = digits.index(digits.startIndex, offsetBy: offset)
            return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16)
        }
    }

    /// RTM_NEWROUTE of table main: default through 10.1.2.1 on 2, or 10.1.2.2 on 3.
    private static let head =
        "48000000 1800 0000 00000000 00000000 02 00 00 00 fe 03 00 01 00000000 0800 0f00 fe000000"
    private static let hops =
        "2400 0900 1000 00 00 02000000 0800 0500 0a010201 1000 00 00 03000000 0800 0500 0a010202"

    private func route(_ text: String) throws -> Route? {
        let message = try Netlink.messages(in: bytes(text).span).first
        guard case .event(.route(let route))? = message?.content else { return nil }
        return route
    }

    @Test func theInterfacesOfARouteWithChoicesAreRead() throws {
        let route = try #require(try route(Self.head + Self.hops))
        #expect(route.nextHopInterfaces == [2, 3] && route.interface == nil && route.gateway == nil)
        #expect(route.prefixLength == 0 && route.table == 254 && route.kind == 1 && !route.isIPv6)
    }

    @Test(
        arguments: [
            (
                "a length of zero",
                "2400 0900 0000 00 00 02000000 0800 0500 0a010201 1000 00 00 03000000 0800 0500 0a010202", []
            ),
            (
                "a length shorter than its header",
                "2400 0900 0700 00 00 02000000 0800 0500 0a010201 1000 00 00 03000000 0800 0500 0a010202", []
            ),
            (
                "a length beyond the list",
                "2400 0900 1000 00 00 02000000 0800 0500 0a010201 1100 00 00 03000000 0800 0500 0a010202", [2]
            ),
        ] as [(String, String, [UInt32])])
    func aListEndsAtAMalformedLength(_ name: String, hops: String, choices: [UInt32]) throws {
        #expect(try route(Self.head + hops)?.nextHopInterfaces == choices, "\(name)")
    }

    @Test func routesOfIPv6AreRead() throws {
        let text = "24000000 1800 0000 00000000 00000000 0a 00 00 00 fe 03 00 01 00000000 0800 0400 05000000"
        let route = try #require(try route(text))
        #expect(route.isIPv6 && route.destination == nil && route.interface == 5)
        #expect(route.nextHopInterfaces == [])
    }

    @Test func oneRequestAsksForAllRoutes() {
        let request = Netlink.routesRequest(sequence: 9)
        #expect(request == bytes("1c000000 1a00 0103 09000000 00000000 00000000 00000000 00000000"))
    }
}
