// SPDX-License-Identifier: MIT

package import LupineTransport

/// Queries and watches the kernel's links and routes.
///
/// Any thread may call the closures. Their callbacks run on the library's threads and must return quickly. Tests substitute other
/// closures.
package struct NetworkView: Sendable {
    /// The kind of route to a host.
    package enum RouteKind: Hashable, Sendable {
        /// The host is this machine.
        case local
        /// The host is on the same link, over this interface.
        case onLink(NetworkInterface)
        /// The host is behind a router, over this interface.
        case routed(NetworkInterface)
    }

    /// The result of a query about a host.
    package enum Finding: Hashable, Sendable {
        /// The usable routes to the host's addresses; empty if no address can be reached, or none is known.
        case routes([RouteKind])
        /// The kernel could not be queried.
        case unknown
    }

    /// Ends a watch: later changes are not reported.
    package typealias End = @Sendable () -> Void

    /// Requests a snapshot, and passes it to `found`; nil if the kernel cannot be queried.
    package let takeSnapshot: @Sendable (_ found: @escaping @Sendable (NetworkSnapshot?) -> Void) -> Void
    /// Queries the routes to a host, given by name or address, and passes the result to `found`. Looking up a name may take long.
    package let findRoutes: @Sendable (_ host: String, _ found: @escaping @Sendable (Finding) -> Void) -> Void
    /// Watches the network: calls `changed` once the watch is established, and after each change of links, addresses or routes.
    package let watch: @Sendable (_ changed: @escaping @Sendable () -> Void) -> End

    /// Creates a view that uses these closures.
    package init(
        takeSnapshot: @escaping @Sendable (_ found: @escaping @Sendable (NetworkSnapshot?) -> Void) -> Void,
        findRoutes:
            @escaping @Sendable (
                _ host: String, _ found: @escaping @Sendable (Finding) -> Void
            ) -> Void,
        watch: @escaping @Sendable (_ changed: @escaping @Sendable () -> Void) -> End
    ) {
        self.takeSnapshot = takeSnapshot
        self.findRoutes = findRoutes
        self.watch = watch
    }

    /// The view that queries the kernel on the shared event loops.
    package static let system = NetworkView(watch: .system) { try? EventLoopGroup.shared().next() }

    /// Returns a view that queries the kernel on one event loop, in the network namespace of its thread.
    package static func on(_ loop: EventLoop) -> NetworkView { NetworkView(watch: .on(loop)) { loop } }

    private init(watch: NetworkWatch, loop: @escaping @Sendable () -> EventLoop?) {
        self.init(
            takeSnapshot: { found in
                RouteQuery.ask(on: loop(), found, otherwise: nil) { $0.takeSnapshot($1) }
            },
            findRoutes: { host, found in
                HostAddresses.find(for: host) { addresses in
                    guard !addresses.isEmpty else { return found(.routes([])) }
                    RouteQuery.ask(on: loop(), found, otherwise: .unknown) {
                        $0.findRoutes(to: addresses, $1)
                    }
                }
            }, watch: watch.begin)
    }
}
