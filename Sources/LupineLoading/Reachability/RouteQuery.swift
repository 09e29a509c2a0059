// SPDX-License-Identifier: MIT

internal import LupineTransport

/// One query about routes: opens a `RouteWatcher`, queries the kernel, and closes the watcher after the replies.
///
/// Confined to its event loop.
final class RouteQuery {
    private let watcher: RouteWatcher

    private init(_ watcher: RouteWatcher) { self.watcher = watcher }

    /// Queries the kernel on this loop, in the network namespace of its thread. Calls `found` once, on the loop or before this
    /// returns; with `otherwise` if the kernel cannot be queried. `body` makes the query, and passes its result to its second
    /// argument.
    static func ask<Answer: Sendable>(
        on loop: EventLoop?, _ found: @escaping @Sendable (Answer) -> Void, otherwise: Answer,
        _ body: @escaping @Sendable (RouteQuery, @escaping (Answer?) -> Void) -> Void
    ) {
        guard let loop else { return found(otherwise) }
        let isScheduled = loop.execute {
            guard let watcher = try? RouteWatcher.open(on: loop, { _ in }) else { return found(otherwise) }
            let query = RouteQuery(watcher)
            body(query) { answer in
                // The watcher may be calling this while it reads, so it is closed afterwards.
                loop.executeOnLoop { query.watcher.close() }
                found(answer ?? otherwise)
            }
        }
        if !isScheduled { found(otherwise) }
    }

    /// Queries links and default routes, and passes them to `reply`; nil if a query fails.
    func takeSnapshot(_ reply: @escaping (NetworkSnapshot?) -> Void) {
        watcher.links { [watcher] links in
            guard case .success(let links) = links else { return reply(nil) }
            watcher.defaultRoutes { routes in
                guard case .success(let routes) = routes else { return reply(nil) }
                reply(NetworkSnapshot(links: links, routes: routes))
            }
        }
    }

    /// Queries the usable routes to these addresses, one after the other, and passes them to `reply`; nil if the links cannot be
    /// queried.
    func findRoutes(to addresses: [IPAddress], _ reply: @escaping (NetworkView.Finding?) -> Void) {
        watcher.links { [self] links in
            guard case .success(let links) = links else { return reply(nil) }
            findNextRoute(to: addresses[...], links, [], reply)
        }
    }

    /// Queries the route to the first address, then those to the others; `routes` are the results so far.
    private func findNextRoute(
        to addresses: ArraySlice<IPAddress>, _ links: [NetworkLink], _ routes: [NetworkView.RouteKind],
        _ reply: @escaping (NetworkView.Finding?) -> Void
    ) {
        guard let address = addresses.first else { return reply(.routes(routes)) }
        watcher.route(to: address) { [self] answer in
            var routes = routes
            // The kernel reports a missing route as an error: this address cannot be reached, but others may.
            if case .success(let route) = answer, let kind = Self.kind(of: route, links) {
                routes.append(kind)
            }
            findNextRoute(to: addresses.dropFirst(), links, routes, reply)
        }
    }

    /// Returns the kind of a route (I-14.13); nil if the route is not usable: of another
    /// kind, or over an interface that does not work.
    static func kind(of route: Route, _ links: [NetworkLink]) -> NetworkView.RouteKind? {
        // 2 is RTN_LOCAL, and 1 RTN_UNICAST.
        if route.kind == 2 { return .local }
        guard route.kind == 1, let link = links.first(where: { $0.index == route.interface }) else {
            return nil
        }
        let interface = NetworkInterface(link)
        guard interface.isWorking else { return nil }
        return route.gateway == nil ? .onLink(interface) : .routed(interface)
    }
}
