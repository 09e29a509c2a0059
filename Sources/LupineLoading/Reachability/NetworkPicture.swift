// SPDX-License-Identifier: MIT

internal import LupineTransport

/// How the machine is connected at a moment: its interfaces, and which of them default routes lead to.
///
/// A value. It says nothing about whether anybody answers.
package struct NetworkPicture: Hashable, Sendable {
    /// All of them, working or not.
    package var interfaces: [NetworkInterface]
    /// The numbers of the interfaces that default routes of IPv4 lead to, in the kernel's order.
    package var defaultsIPv4: [UInt32]
    /// The same of IPv6.
    package var defaultsIPv6: [UInt32]

    /// A picture of these interfaces and routes.
    package init(interfaces: [NetworkInterface], defaultsIPv4: [UInt32] = [], defaultsIPv6: [UInt32] = []) {
        self.interfaces = interfaces
        self.defaultsIPv4 = defaultsIPv4
        self.defaultsIPv6 = defaultsIPv6
    }

    /// The interfaces of these numbers that work and lead out of the machine (I-14.12).
    package func usable(_ indexes: [UInt32]) -> [NetworkInterface] {
        interfaces.filter { indexes.contains($0.index) && $0.isWorking && $0.medium != .loopback }
    }

    /// The interfaces that a default route makes usable.
    package var ways: [NetworkInterface] { usable(defaultsIPv4 + defaultsIPv6) }
}

extension NetworkPicture {
    /// The picture that the kernel's lists show. Routes of the tables `main` and `default` count, if they send packets on.
    init(links: [NetworkLink], routes: [Route]) {
        let defaults = routes.filter {
            $0.prefixLength == 0 && $0.kind == 1 && ($0.table == 254 || $0.table == 253)
        }
        func interfaces(_ routes: [Route]) -> [UInt32] {
            routes.flatMap { ($0.interface.map { [$0] } ?? []) + $0.choices }
        }
        self.init(
            interfaces: links.map(NetworkInterface.init),
            defaultsIPv4: interfaces(defaults.filter { !$0.isIPv6 }),
            defaultsIPv6: interfaces(defaults.filter(\.isIPv6)))
    }
}
