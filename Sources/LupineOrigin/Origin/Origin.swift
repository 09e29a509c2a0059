// SPDX-License-Identifier: MIT

internal import LupineTLS
package import LupineTransport

/// A small origin server for HTTP/1.1 and HTTP/2, for the tests, the demo and `lupine serve`.
///
/// The origin answers the endpoints known from httpbin (see `Router.standard`) and those added with `route`, and follows scripts
/// byte by byte. It uses TLS if `OriginConfiguration.tls` is set. It listens on loopback unless the caller passes another
/// address. It is not a public server: it has no access control and no log. It runs until `shutdown` or `shutdownAndWait` is
/// called. Any thread may use it.
package final class Origin: Sendable {
    /// The address at which the origin listens.
    package let address: SocketAddress
    private let service: OriginService
    /// The event loops that the origin has created, and which it shuts down; nil if the caller passed loops.
    private let ownGroup: EventLoopGroup?
    /// The event loops, each with the connections that it serves.
    private let loops: [(loop: EventLoop, connections: LoopBound<LoopConnections>)]

    /// Starts an origin at the IP address that `host` contains as text. For port 0 the kernel chooses a port.
    package static func start(
        host: String = "127.0.0.1", port: UInt16 = 0, loops: EventLoopGroup? = nil,
        configuration: OriginConfiguration = OriginConfiguration()
    ) throws(OriginError) -> Origin {
        guard let address = SocketAddress(literal: host, port: port) else {
            throw OriginError.notAnAddress(host)
        }
        return try start(at: address, loops: loops, configuration: configuration)
    }

    /// Starts an origin at any address, such as a Unix-domain socket. If `loops` is nil, the origin creates loops of its own.
    package static func start(
        at address: SocketAddress, loops: EventLoopGroup? = nil,
        configuration: OriginConfiguration = OriginConfiguration()
    ) throws(OriginError) -> Origin {
        let service: OriginService
        do throws(TLSError) {
            service = try OriginService(configuration)
        } catch {
            throw .cannotSpeakTLS(error)
        }
        do throws(Errno) {
            let socket = try Socket.stream(for: address)
            // Only IP addresses have a port, and need the option.
            if address.port != nil { try socket.setReuseAddress() }
            try socket.bind(to: address)
            try socket.listen(backlog: 4096)
            // The bound address has the port that the kernel has chosen.
            let boundAddress = try socket.localAddress() ?? address
            let ownGroup =
                loops == nil ? try EventLoopGroup(count: configuration.ownLoops, name: "lupine-origin") : nil
            let origin = Origin(at: boundAddress, service: service, group: loops, ownGroup: ownGroup)
            origin.listen(socket)
            return origin
        } catch {
            throw .cannotListen(at: address, error)
        }
    }

    private init(
        at address: SocketAddress, service: OriginService, group: EventLoopGroup?,
        ownGroup: EventLoopGroup?
    ) {
        self.address = address
        self.service = service
        self.ownGroup = ownGroup
        loops = (group ?? ownGroup)?.loops.map { ($0, LoopBound(sending: LoopConnections(), to: $0)) } ?? []
    }

    /// Starts a listener for the socket on the first loop.
    private func listen(_ socket: consuming Socket) {
        let first = loops[0]
        // A closure cannot capture a noncopyable socket, so the closure captures the number of the descriptor.
        let handle = socket.intoDescriptor().release()
        let (loops, service) = (loops, service)
        let isWorkAccepted = first.loop.executeInline {
            let connections = first.connections.value
            let listener = Listener(
                Socket(adopting: Descriptor(adopting: handle)), on: first.loop, loops: loops,
                service: service)
            // The listener is released, which closes the socket.
            guard !connections.isClosed else { return }
            // Registration fails only if the kernel is out of memory. Then the listener closes, and no connection is accepted.
            do throws(Errno) { try listener.start() } catch { return listener.stop() }
            connections.add(listener)
        }
        // A loop that has shut down refuses work, and then nothing owns the descriptor.
        if !isWorkAccepted { Descriptor(adopting: handle).close() }
    }

    // MARK: addresses

    /// The port at which the origin listens; 0 for a Unix-domain socket.
    package var port: UInt16 { address.port ?? 0 }

    /// The URL of the origin, `http://host:port` or `https://host:port`; empty for a Unix-domain socket.
    package var url: String {
        guard let port = address.port, let host = address.host else { return "" }
        let scheme = service.usesTLS ? "https" : "http"
        return address.isIPv6 ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)"
    }

    // MARK: routes

    /// Adds a route: `handler` answers requests of `method` (nil: any) for paths that match `pattern`. Added routes precede the
    /// standard endpoints. A segment in braces matches any one segment, which is added to the request's `parameters`. `{*}` at
    /// the end matches all remaining segments. The handler runs on a loop and must not block.
    package func route(
        _ method: String?, _ pattern: String,
        _ handler: @escaping @Sendable (OriginRequest) throws(Refusal) -> OriginResponse
    ) {
        service.add(method, pattern, .collected(handler))
    }

    /// Adds a route with any kind of endpoint: one that answers before the body arrives, or receives the body in pieces, or
    /// follows a script. `method` and `pattern` have the same meaning as for a handler.
    package func route(_ method: String?, _ pattern: String, _ endpoint: Endpoint) {
        service.add(method, pattern, endpoint)
    }

    /// Adds a route whose connections follow a script: after the head of a request that matches `pattern`, the connection follows
    /// the script that the plan assigns to it.
    package func script(_ method: String?, _ pattern: String, _ plan: ScriptPlan) {
        service.add(method, pattern, .script(plan))
    }

    /// Returns the gate that scripts use under `name`. A test opens it for a script, or waits until a script opens it.
    package func gate(_ name: String) -> Gate { service.gate(name) }

    // MARK: records

    /// The counts of connections, requests, bytes and handshakes, which change while the origin runs.
    package var counts: OriginCounts { service.counts }

    /// Returns the bytes received on a connection, at most `OriginConfiguration.recordedBytes`. Connections are numbered from 0
    /// in order of acceptance. Over TLS the result is the decrypted content; for a script on the socket, the bytes on the socket.
    package func received(on connection: Int) -> [UInt8] { service.byteRecord.bytes(of: connection) }

    /// The first PRIORITY_UPDATE frames that clients have sent (RFC 9218 §7.1), in order of arrival.
    package var priorities: [RecordedPriorityUpdate] { service.priorityRecord.all }

    /// Returns the outcomes of a connection's TLS handshakes: several if a script starts TLS inside TLS. The origin stores the
    /// outcomes of the newest connections only.
    package func handshakes(on connection: Int) -> [OriginHandshake] {
        service.handshakeRecord.handshakes(of: connection)
    }

    /// Waits until the handshake with number `index` of a connection has ended, and returns its outcome; nil if the record has
    /// been dropped by then. Never returns if the connection has no handshake with this number.
    package func handshake(on connection: Int, index: Int = 0) async -> OriginHandshake? {
        await service.handshakeRecord.gate(forHandshake: index, of: connection).wait()
        return service.handshakeRecord.handshakes(of: connection).dropFirst(index).first
    }

    // MARK: shutdown

    /// Closes the listener and all connections. Returns when all descriptors are closed and the origin's own threads have ended.
    package func shutdown() async {
        let allClosed = Gate()
        let countDown = CountDown(loops.count) { allClosed.open() }
        closeConnections { countDown.arrive() }
        await allClosed.wait()
        await ownGroup?.shutdown()
        removeSocketFile()
    }

    /// Closes the listener and all connections, like `shutdown`, but blocks the calling thread. Must not be called on a loop.
    package func shutdownAndWait() {
        let latch = Latch(loops.count)
        closeConnections { latch.arrive() }
        latch.wait()
        ownGroup?.shutdownAndWait()
        removeSocketFile()
    }

    /// Closes the connections and the listener of each loop. Calls `whenClosed` once for each loop.
    private func closeConnections(_ whenClosed: @escaping @Sendable () -> Void) {
        for entry in loops {
            let isWorkAccepted = entry.loop.executeInline {
                entry.connections.value.close()
                whenClosed()
            }
            // A loop that has shut down refuses work; its connections and its listener are already closed.
            if !isWorkAccepted { whenClosed() }
        }
    }

    private func removeSocketFile() {
        if case .unix(let path) = address { SocketFile.remove(path) }
    }
}
