// SPDX-License-Identifier: MIT

internal import LupineTransport

/// One query about routes: opens a `RouteWatcher`, queries the kernel, and closes the watcher after the replies.
///
/// Confined to its event loop.
final class RouteQuery {
    private let watcher: RouteWatcher

    private init(_ watcher: RouteWatcher) { self.watcher = watcher }

    /// Queries the kernel on this loop, in the network namespace of its thread.
    ///
    /// - Parameters:
    ///   - loop: The event loop; nil if there is none.
    ///   - completion: Called once with the result, on the loop or before this returns.
    ///   - fallback: The result if the kernel cannot be queried.
    ///   - body: Makes the query, and passes the result to its second argument; nil if the query failed.
    static func perform<Answer: Sendable>(
        on loop: EventLoop?, _ completion: @escaping @Sendable (Answer) -> Void, fallback: Answer,
        _ body: @escaping @Sendable (RouteQuery, @escaping (Answer?) -> Void) -> Void
    ) {
        guard let loop else { return completion(fallback) }
        let isScheduled = loop.execute {
            // The query needs no notifications, so the listener does nothing.
            guard let watcher = try? RouteWatcher.open(on: loop, { _ in }) else {
                return completion(fallback)
            }
            let query = RouteQuery(watcher)
            body(query) { answer in
                // The watcher may call this closure while it reads, so the loop closes the watcher at the end of the turn.
                loop.executeOnLoop { query.watcher.close() }
                completion(answer ?? fallback)
            }
        }
        if !isScheduled { completion(fallback) }
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
    func findRoutes(to addresses: [IPAddress], _ reply: @escaping (NetworkView.RouteResult?) -> Void) {
        watcher.links { [self] links in
            guard case .success(let links) = links else { return reply(nil) }
            findNextRoute(to: addresses[...], links, [], reply)
        }
    }

    /// Queries the route to the first address, and then the routes to the other addresses. `routes` are the usable routes to
    /// earlier addresses.
    private func findNextRoute(
        to addresses: ArraySlice<IPAddress>, _ links: [NetworkLink], _ routes: [NetworkView.RouteKind],
        _ reply: @escaping (NetworkView.RouteResult?) -> Void
    ) {
        guard let address = addresses.first else { return reply(.routes(routes)) }
        watcher.route(to: address) { [self] answer in
            var routes = routes
            // The kernel reports a missing route as an error. The query continues, because other addresses may have routes.
            if case .success(let route) = answer, let kind = Self.kind(of: route, links) {
                routes.append(kind)
            }
            findNextRoute(to: addresses.dropFirst(), links, routes, reply)
        }
    }

    /// Returns the kind of a route (I-14.13); nil if the route is not usable, because it has another type than local and unicast,
    /// or because its interface is not operational.
    static func kind(of route: Route, _ links: [NetworkLink]) -> NetworkView.RouteKind? {
        // RTN_UNICAST and RTN_LOCAL of rtnetlink(7).
        let (unicast, local): (UInt8, UInt8) = (1, 2)
        if route.kind == local { return .local }
        guard route.kind == unicast, let link = links.first(where: { $0.index == route.interface }) else {
            return nil
        }
        let interface = NetworkInterface(link)
        guard interface.isOperational else { return nil }
        return route.gateway == nil ? .onLink(interface) : .routed(interface)
    }
}
