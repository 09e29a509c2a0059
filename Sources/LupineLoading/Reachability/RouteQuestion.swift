// SPDX-License-Identifier: MIT

internal import LupineTransport

/// One question to the kernel about routes: it opens a `RouteWatcher`, asks, and closes it when the answers are there.
///
/// Confined to its loop.
final class RouteQuestion {
    private let watcher: RouteWatcher

    private init(_ watcher: RouteWatcher) { self.watcher = watcher }

    /// Asks on this loop, in the network namespace of its thread; `found` is called once, there or here, with `otherwise` when the kernel
    /// cannot be asked.
    static func ask<Answer: Sendable>(
        on loop: EventLoop?, _ found: @escaping @Sendable (Answer) -> Void, otherwise: Answer,
        _ body: @escaping @Sendable (RouteQuestion, @escaping (Answer?) -> Void) -> Void
    ) {
        guard let loop else { return found(otherwise) }
        let isTaken = loop.execute {
            guard let watcher = try? RouteWatcher.open(on: loop, { _ in }) else { return found(otherwise) }
            let question = RouteQuestion(watcher)
            body(question) { answer in
                // Not from within the watcher's own reading.
                loop.executeOnLoop { question.watcher.close() }
                found(answer ?? otherwise)
            }
        }
        if !isTaken { found(otherwise) }
    }

    /// The whole picture.
    func picture(_ reply: @escaping (NetworkPicture?) -> Void) {
        watcher.links { [watcher] links in
            guard case .success(let links) = links else { return reply(nil) }
            watcher.defaultRoutes { routes in
                guard case .success(let routes) = routes else { return reply(nil) }
                reply(NetworkPicture(links: links, routes: routes))
            }
        }
    }

    /// The ways to these addresses that lead anywhere.
    func ways(to addresses: [IPAddress], _ reply: @escaping (NetworkView.Finding?) -> Void) {
        watcher.links { [self] links in
            guard case .success(let links) = links else { return reply(nil) }
            next(of: addresses[...], links, [], reply)
        }
    }

    private func next(
        of addresses: ArraySlice<IPAddress>, _ links: [NetworkLink], _ ways: [NetworkView.Way],
        _ reply: @escaping (NetworkView.Finding?) -> Void
    ) {
        guard let address = addresses.first else { return reply(.ways(ways)) }
        watcher.route(to: address) { [self] answer in
            var ways = ways
            // No route is an error of the kernel's too: this address cannot be reached, others may.
            if case .success(let route) = answer, let way = Self.way(route, links) { ways.append(way) }
            next(of: addresses.dropFirst(), links, ways, reply)
        }
    }

    /// What a route means (I-14.13); nil when it leads nowhere.
    static func way(_ route: Route, _ links: [NetworkLink]) -> NetworkView.Way? {
        if route.kind == 2 { return .local }
        guard route.kind == 1, let link = links.first(where: { $0.index == route.interface }) else {
            return nil
        }
        let interface = NetworkInterface(link)
        guard interface.isWorking else { return nil }
        return route.gateway == nil ? .onLink(interface) : .routed(interface)
    }
}
