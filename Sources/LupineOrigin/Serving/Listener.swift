// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// Accepts connections and distributes them among the loops in turn. Used on its loop only.
final class Listener: LoopChannel {
    private let loop: EventLoop
    private let loops: [(loop: EventLoop, connections: LoopBound<LoopConnections>)]
    private let service: OriginService
    private let plan: ScriptPlan?
    private var socket: Socket?
    private var registration: Registration?
    private var retry: EventLoop.TimerToken?
    /// The index of the loop that gets the next connection, not reduced.
    private var nextLoop = 0

    /// The delay before accepting again when the process is out of descriptors. epoll does not report that one is free again.
    private static let retryDelay = Duration.milliseconds(10)

    init(
        _ socket: consuming Socket, on loop: EventLoop,
        loops: [(loop: EventLoop, connections: LoopBound<LoopConnections>)], service: OriginService
    ) {
        self.socket = consume socket
        self.loop = loop
        self.loops = loops
        self.service = service
        plan = service.configuration.script
    }

    /// Starts accepting connections.
    func start() throws(Errno) {
        registration = try register()
    }

    private func register() throws(Errno) -> Registration? {
        guard socket != nil else { return nil }
        return try socket?.watched(by: loop, self)
    }

    /// Closes the socket: the kernel refuses further clients.
    func stop() {
        if let registration { loop.deregister(registration) }
        if let retry { loop.cancel(retry) }
        registration = nil
        retry = nil
        socket = nil
    }

    func channelReady(_ readiness: Readiness) { acceptAll() }

    func loopWillClose() { stop() }

    private func acceptAll() {
        while socket != nil {
            do throws(Errno) {
                guard let client = try socket?.accept() ?? nil else { return }
                assign(client)
            } catch {
                // One timer is enough, however many clients fail.
                guard retry == nil else { return }
                retry = loop.schedule(after: Self.retryDelay) { [weak self] reason in
                    self?.retry = nil
                    if reason == .due { self?.acceptAll() }
                }
                return
            }
        }
    }

    /// Moves an accepted socket to the next loop.
    private func assign(_ client: consuming Socket) {
        let number = service.counts.countOpened()
        guard service.counts.connectionsOpen <= service.configuration.maximumConnections
        else { return service.counts.countClosed() }
        // Fails on Unix-domain sockets, which do not have this option.
        try? client.setNoDelay()
        if let size = service.configuration.socketBufferSize {
            try? client.setBufferSizes(send: size, receive: size)
        }
        let peer = (try? client.peerAddress()) ?? nil
        let entry = loops[nextLoop % loops.count]
        nextLoop += 1
        let script: Script?
        switch plan?.decision(for: number) {
        case nil: script = nil
        case .follow(let chosen): script = chosen
        case .refuse: return service.counts.countClosed()
        case .stopListening:
            service.counts.countClosed()
            return stop()
        }
        let handle = client.intoDescriptor().release()
        let service = service
        let isAccepted = entry.loop.executeInline {
            Self.open(handle, peer, number, script, service, entry.connections.value, entry.loop)
        }
        if !isAccepted {
            Descriptor(adopting: handle).close()
            service.counts.countClosed()
        }
    }

    /// Creates the connection of an accepted socket, on the connection's loop.
    private static func open(
        _ handle: Int32, _ peer: SocketAddress?, _ number: Int, _ script: Script?,
        _ service: OriginService, _ connections: LoopConnections, _ loop: EventLoop
    ) {
        let socket = Socket(adopting: Descriptor(adopting: handle))
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
        if let context = service.tlsContext(forConnection: number), script?.layer != .socket {
            do throws(TLSError) {
                channel = try TLSChannel(context, over: channel, connectionNumber: number, handshakeRecord: service.handshakeRecord)
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
    fileprivate borrowing func watched(
        by loop: EventLoop, _ listener: Listener
    ) throws(Errno) -> Registration {
        try loop.register(descriptor, listener)
    }
}
