// SPDX-License-Identifier: MIT

package import LupineTransport

/// What reachability sees of the network: the pipeline's door to the kernel's routes, which the transport watches.
///
/// Any thread may call; answers come on threads of the library's, which must not be kept. Tests give it other closures.
package struct NetworkView: Sendable {
    /// Which way packets to a host would go.
    package enum Way: Hashable, Sendable {
        /// To this machine.
        case local
        /// To a machine on the same link, over an interface.
        case onLink(NetworkInterface)
        /// To a router.
        case routed(NetworkInterface)
    }

    /// What is known about a host.
    package enum Finding: Hashable, Sendable {
        /// The ways to its addresses that lead anywhere; none when no address can be reached, or none is known.
        case ways([Way])
        /// The kernel does not say.
        case unknown
    }

    /// Ends a watch: what changes from now on is not told any more.
    package typealias End = @Sendable () -> Void

    /// Asks for the whole picture; nil when the kernel does not say.
    package let look: @Sendable (_ found: @escaping @Sendable (NetworkPicture?) -> Void) -> Void
    /// Asks about a host, a name or an address. Names are looked up, which may take long.
    package let find: @Sendable (_ host: String, _ found: @escaping @Sendable (Finding) -> Void) -> Void
    /// Begins to tell whenever links, addresses or routes have changed, and once when the watch stands.
    package let watch: @Sendable (_ changed: @escaping @Sendable () -> Void) -> End

    /// A view that asks by these closures.
    package init(
        look: @escaping @Sendable (_ found: @escaping @Sendable (NetworkPicture?) -> Void) -> Void,
        find: @escaping @Sendable (_ host: String, _ found: @escaping @Sendable (Finding) -> Void) -> Void,
        watch: @escaping @Sendable (_ changed: @escaping @Sendable () -> Void) -> End
    ) {
        self.look = look
        self.find = find
        self.watch = watch
    }

    /// The kernel's word, heard on the loops that everybody shares.
    package static let system = NetworkView(watch: .system) { try? EventLoopGroup.shared().next() }

    /// The kernel's word in the network namespace of one loop's thread.
    package static func on(_ loop: EventLoop) -> NetworkView { NetworkView(watch: .on(loop)) { loop } }

    private init(watch: NetworkWatch, loop: @escaping @Sendable () -> EventLoop?) {
        self.init(
            look: { found in RouteQuestion.ask(on: loop(), found, otherwise: nil) { $0.picture($1) } },
            find: { host, found in
                HostAddresses.look(up: host) { addresses in
                    guard !addresses.isEmpty else { return found(.ways([])) }
                    RouteQuestion.ask(on: loop(), found, otherwise: .unknown) { $0.ways(to: addresses, $1) }
                }
            }, watch: watch.begin)
    }
}
