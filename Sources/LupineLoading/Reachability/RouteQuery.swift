// SPDX-License-Identifier: MIT

internal import LupineTransport

/// One query about routes: opens a `RouteWatcher`, asks the kernel, and closes the watcher after the answers.
///
/// Confined to its event loop.
final class RouteQuery {
    private let watcher: RouteWatcher

    private init(_ watcher: RouteWatcher) { self.watcher = watcher }

    /// Asks the kernel on this loop, in the network namespace of its thread. `found` is called once, on the loop or before this
    /// returns, with `otherwise` if the kernel cannot be queried.
    static func ask<Answer: Sendable>(
        on loop: EventLoop?, _ found: @escaping @Sendable (Answer) -> Void, otherwise: Answer,
        _ body: @escaping @Sendable (RouteQuery, @escaping (Answer?) -> Void) -> Void
    ) {
        guard let loop else { return found(otherwise) }
        let isTaken = loop.execute {
            guard let watcher = try? RouteWatcher.open(on: loop, { _ in }) else { return found(otherwise) }
            let question = RouteQuery(watcher)
            body(question) { answer in
                // Not from within the watcher's own read.
                loop.executeOnLoop { question.watcher.close() }
                found(answer ?? otherwise)
            }
        }
        if !isTaken { found(otherwise) }
    }

    /// Queries a snapshot of the network.
    func picture(_ reply: @escaping (NetworkSnapshot?) -> Void) {
        watcher.links { [watcher] links in
            guard case .success(let links) = links else { return reply(nil) }
            watcher.defaultRoutes { routes in
                guard case .success(let routes) = routes else { return reply(nil) }
                reply(NetworkSnapshot(links: links, routes: routes))
            }
        }
    }

    /// Queries the usable routes to these addresses.
    func ways(to addresses: [IPAddress], _ reply: @escaping (NetworkView.Finding?) -> Void) {
        watcher.links { [self] links in
            guard case .success(let links) = links else { return reply(nil) }
            next(of: addresses[...], links, [], reply)
        }
    }

    private func next(
        of addresses: ArraySlice<IPAddress>, _ links: [NetworkLink], _ ways: [NetworkView.RouteKind],
        _ reply: @escaping (NetworkView.Finding?) -> Void
    ) {
        guard let address = addresses.first else { return reply(.ways(ways)) }
        watcher.route(to: address) { [self] answer in
            var ways = ways
            // The kernel reports a missing route as an error: this address cannot be reached, but others may.
            if case .success(let route) = answer, let way = Self.way(route, links) { ways.append(way) }
            next(of: addresses.dropFirst(), links, ways, reply)
        }
    }

    /// Interprets a route (I-14.13); returns nil if it leads nowhere.
    static func way(_ route: Route, _ links: [NetworkLink]) -> NetworkView.RouteKind? {
        if route.kind == 2 { return .local }
        guard route.kind == 1, let link = links.first(where: { $0.index == route.interface }) else {
            return nil
        }
        let interface = NetworkInterface(link)
        guard interface.isWorking else { return nil }
        return route.gateway == nil ? .onLink(interface) : .routed(interface)
    }
}
