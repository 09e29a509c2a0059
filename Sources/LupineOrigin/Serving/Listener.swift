// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// Accepts connections, and assigns them to the loops in turn. Used on its loop only.
final class Listener: LoopChannel {
    /// The loop on which the listener accepts connections.
    private let loop: EventLoop
    /// The loops that serve the connections.
    private let loops: [(loop: EventLoop, connections: LoopBound<LoopConnections>)]
    private let service: OriginService
    /// The plan that assigns scripts to connections; nil if all connections serve HTTP.
    private let scriptPlan: ScriptPlan?
    /// The listening socket; nil after `stop`. Releasing it closes the descriptor.
    private var socket: Socket?
    private var registration: Registration?
    /// The timer that accepts again after an error.
    private var retryTimer: EventLoop.TimerToken?
    /// The number of assigned connections. Modulo the number of loops, it is the index of the loop for the next connection.
    private var nextLoopIndex = 0

    /// The delay before the listener accepts again after the process has run out of descriptors. epoll does not report that a
    /// descriptor is free again.
    private static let retryDelay = Duration.milliseconds(10)

    init(
        _ socket: consuming Socket, on loop: EventLoop,
        loops: [(loop: EventLoop, connections: LoopBound<LoopConnections>)], service: OriginService
    ) {
        self.socket = consume socket
        self.loop = loop
        self.loops = loops
        self.service = service
        scriptPlan = service.configuration.script
    }

    /// Starts accepting connections.
    func start() throws(Errno) {
        registration = try register()
    }

    /// Registers the socket with the loop. Returns nil after `stop`.
    private func register() throws(Errno) -> Registration? {
        guard socket != nil else { return nil }
        return try socket?.registered(with: loop, for: self)
    }

    /// Closes the socket: the kernel refuses further clients.
    func stop() {
        if let registration { loop.deregister(registration) }
        if let retryTimer { loop.cancel(retryTimer) }
        registration = nil
        retryTimer = nil
        socket = nil
    }

    func channelReady(_ readiness: Readiness) { acceptAll() }

    func loopWillClose() { stop() }

    /// Accepts connections until none waits, or an error occurs.
    private func acceptAll() {
        while socket != nil {
            do throws(Errno) {
                // `?? nil` makes one optional of two; nil means that no connection waits.
                guard let client = try socket?.accept() ?? nil else { return }
                assign(client)
            } catch {
                // A timer may already wait, because a later client causes another readiness event.
                guard retryTimer == nil else { return }
                retryTimer = loop.schedule(after: Self.retryDelay) { [weak self] reason in
                    self?.retryTimer = nil
                    if reason == .due { self?.acceptAll() }
                }
                return
            }
        }
    }

    /// Moves an accepted socket to the next loop. An early return closes the socket, because `client` is released.
    private func assign(_ client: consuming Socket) {
        let number = service.counts.countOpened()
        guard service.counts.connectionsOpen <= service.configuration.maximumConnections
        else { return service.counts.countClosed() }
        // Fails on Unix-domain sockets, which do not have this option.
        try? client.setNoDelay()
        if let size = service.configuration.socketBufferSize {
            // If the kernel refuses the sizes, it uses its own.
            try? client.setBufferSizes(send: size, receive: size)
        }
        // Nil if the system call fails, or returns an address that is not supported.
        let peer = (try? client.peerAddress()) ?? nil
        let entry = loops[nextLoopIndex % loops.count]
        nextLoopIndex += 1
        let script: Script?
        switch scriptPlan?.decision(for: number) {
        case nil: script = nil
        case .follow(let nextScript): script = nextScript
        case .refuse: return service.counts.countClosed()
        case .stopListening:
            service.counts.countClosed()
            return stop()
        }
        // A closure cannot capture a noncopyable socket, so the closure captures the number of the descriptor.
        let handle = client.intoDescriptor().release()
        let service = service
        // Runs the closure at once if the connection's loop is also the listener's.
        let isWorkAccepted = entry.loop.executeInline {
            Self.openConnection(handle, peer, number, script, service, entry.connections.value, entry.loop)
        }
        // A loop that has shut down refuses work, and then nothing owns the descriptor.
        if !isWorkAccepted {
            Descriptor(adopting: handle).close()
            service.counts.countClosed()
        }
    }

    /// Creates the connection of an accepted socket, on the connection's loop.
    private static func openConnection(
        _ handle: Int32, _ peer: SocketAddress?, _ number: Int, _ script: Script?,
        _ service: OriginService, _ connections: LoopConnections, _ loop: EventLoop
    ) {
        let socket = Socket(adopting: Descriptor(adopting: handle))
        // The socket is released, which closes it.
        guard !connections.isClosed else { return service.counts.countClosed() }
        let conversation: any Conversation =
            if let script {
                ScriptConversation(script)
            } else if let http2 = service.configuration.http2 {
                ProtocolDetector(http2)
            } else {
                HTTP1Conversation(limits: service.configuration.limits)
            }
        var channel: any ClientChannel = PlainChannel(socket)
        // A script on the socket begins without TLS, even if the origin uses TLS.
        if let context = service.tlsContext(forConnection: number), script?.layer != .socket {
            do throws(TLSError) {
                channel = try TLSChannel(
                    context, over: channel, connectionNumber: number,
                    handshakeRecord: service.handshakeRecord)
            } catch {
                // OpenSSL is out of memory.
                channel.close()
                return service.counts.countClosed()
            }
        }
        let connection = ServerConnection(
            channel, peer: peer, number: number, service: service, connections: connections,
            loop: loop, conversation: conversation)
        connections.add(connection)
        connection.start()
    }
}

extension Socket {
    /// Registers the socket's descriptor with the loop. The function extends `Socket`, because only a method of `Socket` can
    /// borrow the descriptor.
    fileprivate borrowing func registered(
        with loop: EventLoop, for listener: Listener
    ) throws(Errno) -> Registration {
        try loop.register(descriptor, listener)
    }
}
