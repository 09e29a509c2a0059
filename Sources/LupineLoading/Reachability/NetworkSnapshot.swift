// SPDX-License-Identifier: MIT

internal import LupineTransport

/// A snapshot of the machine's connectivity: its interfaces, and the interfaces of its default routes.
///
/// The snapshot does not tell whether any host responds.
package struct NetworkSnapshot: Hashable, Sendable {
    /// All interfaces, working or not.
    package var interfaces: [NetworkInterface]
    /// The indexes of the interfaces of IPv4 default routes, in the kernel's order.
    package var defaultsIPv4: [UInt32]
    /// The indexes of the interfaces of IPv6 default routes, in the kernel's order.
    package var defaultsIPv6: [UInt32]

    /// Creates a snapshot.
    package init(interfaces: [NetworkInterface], defaultsIPv4: [UInt32] = [], defaultsIPv6: [UInt32] = []) {
        self.interfaces = interfaces
        self.defaultsIPv4 = defaultsIPv4
        self.defaultsIPv6 = defaultsIPv6
    }

    /// Returns the interfaces with these indexes that work and are not loopback interfaces (I-14.12).
    package func usable(_ indexes: [UInt32]) -> [NetworkInterface] {
        interfaces.filter { indexes.contains($0.index) && $0.isWorking && $0.medium != .loopback }
    }

    /// The usable interfaces of the default routes.
    package var usableDefaults: [NetworkInterface] { usable(defaultsIPv4 + defaultsIPv6) }
}

extension NetworkSnapshot {
    /// Creates a snapshot from the kernel's lists. Uses only unicast routes (`RTN_UNICAST`, 1) of the tables `main` (254) and
    /// `default` (253).
    init(links: [NetworkLink], routes: [Route]) {
        let defaults = routes.filter {
            $0.prefixLength == 0 && $0.kind == 1 && ($0.table == 254 || $0.table == 253)
        }
        // A route with several next hops has their interfaces in `choices`.
        func interfaces(_ routes: [Route]) -> [UInt32] {
            routes.flatMap { route -> [UInt32] in
                if let interface = route.interface { return [interface] + route.choices }
                return route.choices
            }
        }
        self.init(
            interfaces: links.map(NetworkInterface.init),
            defaultsIPv4: interfaces(defaults.filter { !$0.isIPv6 }),
            defaultsIPv6: interfaces(defaults.filter(\.isIPv6)))
    }
}
