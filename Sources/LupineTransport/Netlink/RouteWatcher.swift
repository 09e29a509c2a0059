// SPDX-License-Identifier: MIT

/// Reports changes of the machine's links, addresses and routes, and finds the route of packets to an address.
///
/// The reachability managers are built on it; their listener decides whether a change matters. A watcher is confined to the loop
/// on which it was opened, and sees the network namespace of that loop's thread.
package final class RouteWatcher: LoopChannel {
    /// An event for the listener.
    package enum Notice: Hashable, Sendable {
        /// A link, an address or a route has changed.
        case event(RouteEvent)
        /// Changes came faster than the loop read them, and the kernel has dropped some. The listener must query the links and
        /// routes again.
        case lost
        /// The watch has ended: its loop is shutting down, or the kernel reported an error.
        case ended(Errno?)
    }

    /// A request with the part of its reply that has arrived, and the closure that receives the result.
    private enum Request {
        case route((Result<Route, Errno>) -> Void)
        case links([NetworkLink], (Result<[NetworkLink], Errno>) -> Void)
        case routes([Route], (Result<[Route], Errno>) -> Void)

        /// Calls the closure with the error.
        func fail(_ error: Errno) {
            switch self {
            case .route(let reply): reply(.failure(error))
            case .links(_, let reply): reply(.failure(error))
            case .routes(_, let reply): reply(.failure(error))
            }
        }
    }

    private let loop: EventLoop
    private let listener: (Notice) -> Void
    /// The port of `socket`, by which the kernel marks replies.
    private let port: UInt32
    private var socket: NetlinkSocket?
    private var registration: Registration?
    /// The requests without a complete reply, by their sequence numbers.
    private var requests: [UInt32: Request] = [:]
    /// The sequence number of the last request.
    private var sequence: UInt32 = 0
    /// The buffer for one datagram. The kernel's notifications have at most a page or 8 KiB, the datagrams of a list 32 KiB.
    private var buffer = [UInt8](repeating: 0, count: 32 << 10)

    /// Opens a watch on the calling loop.
    package static func open(
        on loop: EventLoop, _ listener: @escaping (Notice) -> Void
    ) throws(Errno) -> RouteWatcher {
        loop.preconditionOnLoop()
        let watcher = RouteWatcher(loop, try NetlinkSocket.open(), listener)
        try watcher.start()
        return watcher
    }

    private init(_ loop: EventLoop, _ socket: consuming NetlinkSocket, _ listener: @escaping (Notice) -> Void)
    {
        self.loop = loop
        self.listener = listener
        port = socket.port
        self.socket = consume socket
    }

    /// Registers the socket with the loop.
    private func start() throws(Errno) {
        // A `switch` borrows the noncopyable socket; `if let` would consume it.
        switch socket {
        case .some(let socket): registration = try loop.register(socket.descriptor, self)
        case .none: break
        }
    }

    /// Sends a request, whose number the caller has put into `sequence`, and stores it until its reply arrives. If the request
    /// cannot be sent, its closure gets the error later.
    private func send(_ bytes: [UInt8], _ request: Request) {
        let failure: Errno?
        do throws(Errno) {
            switch socket {
            case .some(let socket):
                try socket.send(bytes)
                failure = nil
            case .none:
                failure = .canceled
            }
        } catch {
            failure = error
        }
        guard let failure else {
            requests[sequence] = request
            return
        }
        // Deferred, so that the closure is never called before the function that made the request returns.
        loop.executeOnLoop { request.fail(failure) }
    }

    /// Receives one datagram; returns nil if there is none, or if the watch has ended.
    private func receive() throws(Errno) -> NetlinkSocket.ReceiveResult? {
        switch socket {
        case .some(let socket):
            switch try socket.receive(into: &buffer) {
            case .nothing: return nil
            case .lost: return .lost
            case .datagram(let count): return .datagram(count)
            }
        case .none:
            return nil
        }
    }

    /// Queries the route to `destination`; `reply` is called once, later, on the loop.
    package func route(to destination: IPAddress, _ reply: @escaping (Result<Route, Errno>) -> Void) {
        loop.preconditionOnLoop()
        sequence &+= 1
        send(Netlink.routeRequest(to: destination, sequence: sequence), .route(reply))
    }

    /// Queries all interfaces; `reply` is called once, later, on the loop.
    package func links(_ reply: @escaping (Result<[NetworkLink], Errno>) -> Void) {
        loop.preconditionOnLoop()
        sequence &+= 1
        send(Netlink.linksRequest(sequence: sequence), .links([], reply))
    }

    /// Queries the default routes of all tables; `reply` is called once, later, on the loop. The kernel returns all routes, which
    /// may be many; only the default routes are stored.
    package func defaultRoutes(_ reply: @escaping (Result<[Route], Errno>) -> Void) {
        loop.preconditionOnLoop()
        sequence &+= 1
        send(Netlink.routesRequest(sequence: sequence), .routes([], reply))
    }

    /// Ends the watch; pending requests fail and the listener is not called again.
    package func close() {
        loop.preconditionOnLoop()
        end(.canceled)
    }

    package func loopWillClose() {
        guard end(.canceled) else { return }
        // Nil says that the loop is shutting down.
        listener(.ended(nil))
    }

    /// Handles datagrams until there are no more, or until the listener has closed the watch.
    package func channelReady(_ readiness: Readiness) {
        while registration != nil {
            do throws(Errno) {
                guard let result = try receive() else { return }
                handle(result)
            } catch {
                // `end` returns false if the watch had ended before. It sets `registration` to nil, so that the loop stops.
                if end(error) { listener(.ended(error)) }
            }
        }
    }

    /// Handles a datagram or the loss of messages. A datagram that cannot be decoded counts as a loss.
    private func handle(_ result: NetlinkSocket.ReceiveResult) {
        switch result {
        case .nothing:
            // Impossible: `receive` returns nil instead.
            break
        case .lost:
            handleOverrun()
        case .datagram(let count):
            do throws(NetlinkError) {
                for message in try Netlink.messages(in: buffer.span.extracting(first: count)) {
                    handle(message)
                }
            } catch {
                handleOverrun()
            }
        }
    }

    /// Passes a reply to its request, and a notification to the listener.
    private func handle(_ message: Netlink.Message) {
        // The listener may have closed the watch between two messages.
        guard registration != nil else { return }
        // A reply has the port of this socket. A notification may have the port of the process that caused the change.
        guard message.port == port, let request = requests[message.sequence] else {
            switch message.content {
            case .event(let event): listener(.event(event))
            case .overrun: handleOverrun()
            case .done, .error, .other: break
            }
            return
        }
        switch (request, message.content) {
        case (.route(let reply), .event(.route(let route))):
            requests[message.sequence] = nil
            reply(.success(route))
        case (.links(let links, let reply), .event(.link(let link))):
            requests[message.sequence] = .links(links + [link], reply)
        case (.links(let links, let reply), .done):
            requests[message.sequence] = nil
            reply(.success(links))
        case (.routes(let routes, let reply), .event(.route(let route))):
            // Only default routes have a prefix of no bits.
            if route.prefixLength == 0 { requests[message.sequence] = .routes(routes + [route], reply) }
        case (.routes(let routes, let reply), .done):
            requests[message.sequence] = nil
            reply(.success(routes))
        case (_, .error(let number)):
            requests[message.sequence] = nil
            request.fail(Errno(rawValue: number))
        case (_, .overrun):
            handleOverrun()
        // Messages that are no part of the expected reply are ignored.
        case (.route, .done), (.route, .event), (.route, .other), (.links, .event), (.links, .other),
            (.routes, .event),
            (.routes, .other):
            break
        }
    }

    /// Tells the listener that messages were lost. Replies may be among them, so all requests fail.
    private func handleOverrun() {
        failRequests(.noBufferSpace)
        listener(.lost)
    }

    /// Fails all requests, in the order in which they were made.
    private func failRequests(_ error: Errno) {
        let failedRequests = requests.sorted { $0.key < $1.key }
        // Emptied first, because a closure may make a new request.
        requests = [:]
        for (_, request) in failedRequests { request.fail(error) }
    }

    /// Ends the watch and fails all requests; returns false if it had ended before.
    @discardableResult
    private func end(_ error: Errno) -> Bool {
        guard let registration else { return false }
        self.registration = nil
        loop.deregister(registration)
        socket = nil
        failRequests(error)
        return true
    }
}
