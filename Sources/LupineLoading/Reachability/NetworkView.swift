// SPDX-License-Identifier: MIT

package import LupineTransport

/// The closures by which reachability queries and watches the kernel's links and routes; tests substitute other closures.
///
/// Any thread may call the closures. Their callbacks run on the library's threads and must return quickly.
package struct NetworkView: Sendable {
    /// The kind of route to a host.
    package enum RouteKind: Hashable, Sendable {
        /// The host is this machine.
        case local
        /// The host is on the link of this interface, and is reached without a router.
        case onLink(NetworkInterface)
        /// The host is reached by a router on the link of this interface.
        case routed(NetworkInterface)
    }

    /// The result of querying the routes to a host.
    package enum RouteResult: Hashable, Sendable {
        /// The usable routes to the host's addresses; empty if no address can be reached, or none is known.
        case routes([RouteKind])
        /// The kernel could not be queried.
        case unknown
    }

    /// Ends a watch, so that later changes are not reported.
    package typealias End = @Sendable () -> Void

    /// Requests a snapshot, and passes it to `completion`; nil if the kernel cannot be queried.
    package let takeSnapshot: @Sendable (_ completion: @escaping @Sendable (NetworkSnapshot?) -> Void) -> Void
    /// Queries the routes to a host, which is a name or an address, and passes the result to `completion`. Looking up a name may
    /// take long.
    package let findRoutes:
        @Sendable (_ host: String, _ completion: @escaping @Sendable (RouteResult) -> Void) -> Void
    /// Watches the network: calls `onChange` once the watch is established, and then after each change of links, addresses or
    /// routes. Returns the closure that ends the watch.
    package let watch: @Sendable (_ onChange: @escaping @Sendable () -> Void) -> End

    /// Creates a view with these closures.
    package init(
        takeSnapshot:
            @escaping @Sendable (_ completion: @escaping @Sendable (NetworkSnapshot?) -> Void) -> Void,
        findRoutes:
            @escaping @Sendable (
                _ host: String, _ completion: @escaping @Sendable (RouteResult) -> Void
            ) -> Void,
        watch: @escaping @Sendable (_ onChange: @escaping @Sendable () -> Void) -> End
    ) {
        self.takeSnapshot = takeSnapshot
        self.findRoutes = findRoutes
        self.watch = watch
    }

    /// The view that queries the kernel on the shared event loops. The closure returns nil if no loop can be started.
    package static let system = NetworkView(watch: .system) { try? EventLoopGroup.shared().next() }

    /// Returns a view that queries the kernel on one event loop, in the network namespace of its thread.
    package static func on(_ loop: EventLoop) -> NetworkView { NetworkView(watch: .on(loop)) { loop } }

    /// Creates a view that queries the kernel on the loop that `loop` returns. If that is nil, the kernel cannot be queried.
    private init(watch: NetworkWatch, loop: @escaping @Sendable () -> EventLoop?) {
        self.init(
            takeSnapshot: { completion in
                RouteQuery.perform(on: loop(), completion, fallback: nil) { $0.takeSnapshot($1) }
            },
            findRoutes: { host, completion in
                HostAddresses.find(for: host) { addresses in
                    // Without an address there is no route.
                    guard !addresses.isEmpty else { return completion(.routes([])) }
                    RouteQuery.perform(on: loop(), completion, fallback: .unknown) {
                        $0.findRoutes(to: addresses, $1)
                    }
                }
            }, watch: watch.begin)
    }
}
