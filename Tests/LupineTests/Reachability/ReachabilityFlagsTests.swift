// SPDX-License-Identifier: MIT

import LupineLoading
import Testing

@testable import Lupine

/// The flags for snapshots and routes, and the status for flags.
@Suite struct ReachabilityFlagsTests {
    private typealias Flags = SCNetworkReachabilityFlags
    private typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

    @Test("the flags have Apple's bits")
    func bits() {
        let rows: [(Flags, UInt32)] = [
            (.transientConnection, 0), (.reachable, 1), (.connectionRequired, 2), (.connectionOnTraffic, 3),
            (.connectionAutomatic, 3), (.interventionRequired, 4), (.connectionOnDemand, 5),
            (.isLocalAddress, 16),
            (.isDirect, 17), (.isWWAN, 18),
        ]
        for (flag, bit) in rows { #expect(flag.rawValue == 1 << bit) }
    }

    @Test("[I-14.1] [I-14.2] the status for flags")
    func statuses() {
        let rows: [(Flags, Status)] = [
            ([], .notReachable), ([.isWWAN], .notReachable), ([.reachable], .reachable(.ethernetOrWiFi)),
            ([.reachable, .isWWAN], .reachable(.cellular)),
            ([.reachable, .connectionRequired], .notReachable),
            ([.reachable, .connectionRequired, .connectionOnDemand], .reachable(.ethernetOrWiFi)),
            ([.reachable, .connectionRequired, .connectionOnTraffic], .reachable(.ethernetOrWiFi)),
            (
                [.reachable, .connectionRequired, .connectionOnTraffic, .isWWAN], .reachable(.cellular)
            ),
            ([.reachable, .connectionRequired, .connectionOnDemand, .interventionRequired], .notReachable),
            ([.reachable, .interventionRequired], .reachable(.ethernetOrWiFi)),
            ([.connectionOnDemand, .connectionOnTraffic], .notReachable),
        ]
        for (flags, status) in rows { #expect(Status(flags) == status, "\(flags.readableDescription)") }
    }

    @Test("[I-14.4] a letter for each flag")
    func letters() {
        let rows: [(Flags, String)] = [
            ([], "-- --------"), ([.reachable], "-R --------"),
            ([.isWWAN, .reachable, .isDirect], "WR ------d-"),
            ([.connectionRequired, .transientConnection], "-- ct------"),
            ([.connectionOnTraffic], "-- ---C---a"),
            ([.interventionRequired, .connectionOnDemand, .isLocalAddress], "-- --i-Dl--"),
        ]
        for (flags, text) in rows { #expect(flags.readableDescription == text) }
    }

    @Test(
        "[I-14.12] [I-14.15] [I-14.16] a default route over a working interface makes the network reachable")
    func snapshots() {
        typealias Network = ScriptedNetwork
        var broken = Network.cable
        broken.isOperational = false
        let rows: [(NetworkSnapshot, Flags, String)] = [
            (Network.offline, [], "only loopback"), (Network.wired, [.reachable], "a cable"),
            (Network.over(Network.radio), [.reachable], "a radio"),
            (Network.mobile, [.reachable, .isWWAN], "a modem"),
            (Network.over(Network.tunnel), [.reachable, .transientConnection], "a tunnel"),
            (Network.over(broken), [], "an unplugged cable"),
            (NetworkSnapshot(interfaces: [Network.loopback, Network.cable]), [], "no default route"),
            (
                NetworkSnapshot(interfaces: [Network.loopback], defaultInterfaceIndexesIPv4: [1]), [],
                "a default route to loopback"
            ),
            (
                NetworkSnapshot(interfaces: [Network.cable], defaultInterfaceIndexesIPv6: [2]), [.reachable],
                "IPv6 alone"
            ),
            (
                NetworkSnapshot(interfaces: [broken, Network.modem], defaultInterfaceIndexesIPv4: [2, 4]),
                [.reachable, .isWWAN],
                "one of two that works"
            ),
        ]
        for (snapshot, flags, name) in rows { #expect(Flags(snapshot) == flags, "\(name)") }
    }

    @Test("[I-14.13] the flags for routes to a host: to this machine, on the link, through a router")
    func hosts() {
        typealias Network = ScriptedNetwork
        let rows: [(NetworkView.RouteResult, Flags?)] = [
            (.unknown, nil), (.routes([]), []),
            (.routes([.local]), [.reachable, .isLocalAddress, .isDirect]),
            (.routes([.onLink(Network.cable)]), [.reachable, .isDirect]),
            (.routes([.routed(Network.cable)]), [.reachable]),
            (.routes([.routed(Network.modem), .local]), [.reachable, .isWWAN]),
        ]
        for (finding, flags) in rows { #expect(Flags(finding) == flags) }
    }
}
