// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The machine's network interfaces at one moment, and which of them the default routes use.
///
/// The snapshot does not tell whether any host responds.
package struct NetworkSnapshot: Hashable, Sendable {
    /// All interfaces, operational or not.
    package var interfaces: [NetworkInterface]
    /// The indexes of the interfaces of IPv4 default routes, in the kernel's order.
    package var defaultInterfaceIndexesIPv4: [UInt32]
    /// The indexes of the interfaces of IPv6 default routes, in the kernel's order.
    package var defaultInterfaceIndexesIPv6: [UInt32]

    /// Creates a snapshot.
    package init(
        interfaces: [NetworkInterface], defaultInterfaceIndexesIPv4: [UInt32] = [],
        defaultInterfaceIndexesIPv6: [UInt32] = []
    ) {
        self.interfaces = interfaces
        self.defaultInterfaceIndexesIPv4 = defaultInterfaceIndexesIPv4
        self.defaultInterfaceIndexesIPv6 = defaultInterfaceIndexesIPv6
    }

    /// Returns the interfaces with these indexes that are operational and not loopback interfaces (I-14.12).
    package func usableInterfaces(withIndexes indexes: [UInt32]) -> [NetworkInterface] {
        interfaces.filter { indexes.contains($0.index) && $0.isOperational && $0.medium != .loopback }
    }

    /// The usable interfaces of the default routes.
    package var usableDefaultInterfaces: [NetworkInterface] {
        usableInterfaces(withIndexes: defaultInterfaceIndexesIPv4 + defaultInterfaceIndexesIPv6)
    }
}

extension NetworkSnapshot {
    /// Creates a snapshot from the kernel's lists. Uses only the unicast routes of the tables `main` and `default`.
    init(links: [NetworkLink], routes: [Route]) {
        // RTN_UNICAST, RT_TABLE_MAIN and RT_TABLE_DEFAULT of rtnetlink(7).
        let unicast: UInt8 = 1
        let (mainTable, defaultTable): (UInt32, UInt32) = (254, 253)
        let defaultRoutes = routes.filter { route in
            // The range of a default route is all addresses: no bit is compared.
            route.prefixLength == 0 && route.kind == unicast
                && (route.table == mainTable || route.table == defaultTable)
        }
        // A route with several gateways has the interfaces of the gateways in `nextHopInterfaces`.
        func interfaceIndexes(_ routes: [Route]) -> [UInt32] {
            routes.flatMap { route -> [UInt32] in
                if let interface = route.interface { return [interface] + route.nextHopInterfaces }
                return route.nextHopInterfaces
            }
        }
        self.init(
            interfaces: links.map(NetworkInterface.init),
            defaultInterfaceIndexesIPv4: interfaceIndexes(defaultRoutes.filter { !$0.isIPv6 }),
            defaultInterfaceIndexesIPv6: interfaceIndexes(defaultRoutes.filter(\.isIPv6)))
    }
}
