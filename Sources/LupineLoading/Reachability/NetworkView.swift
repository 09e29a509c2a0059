// SPDX-License-Identifier: MIT

package import LupineTransport

/// The network as reachability sees it: access to the kernel's routes, which the transport watches.
///
/// Any thread may call; callbacks run on the library's threads and must return quickly. Tests substitute other closures.
package struct NetworkView: Sendable {
    /// The kind of route to a host.
    package enum RouteKind: Hashable, Sendable {
        /// To this machine itself.
        case local
        /// To a machine on the same link, over this interface.
        case onLink(NetworkInterface)
        /// Through a router, over this interface.
        case routed(NetworkInterface)
    }

    /// The result of a query about a host.
    package enum Finding: Hashable, Sendable {
        /// The usable routes to the host's addresses; empty if no address can be reached, or none is known.
        case ways([RouteKind])
        /// The kernel could not be queried.
        case unknown
    }

    /// Ends a watch: later changes are not reported.
    package typealias End = @Sendable () -> Void

    /// Requests a snapshot; the result is nil if the kernel cannot be queried.
    package let look: @Sendable (_ found: @escaping @Sendable (NetworkSnapshot?) -> Void) -> Void
    /// Queries the routes to a host, given by name or address. Looking up a name may take long.
    package let find: @Sendable (_ host: String, _ found: @escaping @Sendable (Finding) -> Void) -> Void
    /// Watches the network: calls `changed` once the watch is established, and after each change of links, addresses or routes.
    package let watch: @Sendable (_ changed: @escaping @Sendable () -> Void) -> End

    /// Creates a view that uses these closures.
    package init(
        look: @escaping @Sendable (_ found: @escaping @Sendable (NetworkSnapshot?) -> Void) -> Void,
        find: @escaping @Sendable (_ host: String, _ found: @escaping @Sendable (Finding) -> Void) -> Void,
        watch: @escaping @Sendable (_ changed: @escaping @Sendable () -> Void) -> End
    ) {
        self.look = look
        self.find = find
        self.watch = watch
    }

    /// Queries the kernel on the shared event loops.
    package static let system = NetworkView(watch: .system) { try? EventLoopGroup.shared().next() }

    /// Queries the kernel in the network namespace of one event loop's thread.
    package static func on(_ loop: EventLoop) -> NetworkView { NetworkView(watch: .on(loop)) { loop } }

    private init(watch: NetworkWatch, loop: @escaping @Sendable () -> EventLoop?) {
        self.init(
            look: { found in RouteQuery.ask(on: loop(), found, otherwise: nil) { $0.picture($1) } },
            find: { host, found in
                HostAddresses.look(up: host) { addresses in
                    guard !addresses.isEmpty else { return found(.ways([])) }
                    RouteQuery.ask(on: loop(), found, otherwise: .unknown) { $0.ways(to: addresses, $1) }
                }
            }, watch: watch.begin)
    }
}
