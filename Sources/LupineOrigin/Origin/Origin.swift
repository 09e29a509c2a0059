// SPDX-License-Identifier: MIT

internal import LupineTLS
package import LupineTransport

/// A small origin server for HTTP/1.1 and HTTP/2, for the tests, the demo and `lupine serve`.
///
/// It answers the endpoints known from httpbin (see `Router.standard`) and those added with `route`, and follows scripts
/// byte by byte. It uses TLS if `OriginConfiguration.tls` is set. It listens on loopback unless it is given another address. It
/// is not a public server: it has no access control and no log. It runs until it is shut down. Any thread may use it.
package final class Origin: Sendable {
    /// The address at which the origin listens.
    package let address: SocketAddress
    private let service: OriginService
    /// The loops that the origin has created and shuts down; nil if it was given loops.
    private let ownGroup: EventLoopGroup?
    private let loops: [(loop: EventLoop, connections: LoopBound<LoopConnections>)]

    /// Starts an origin on an IP address given as text; for port 0 the kernel chooses one.
    package static func start(
        host: String = "127.0.0.1", port: UInt16 = 0, loops: EventLoopGroup? = nil,
        configuration: OriginConfiguration = OriginConfiguration()
    ) throws(OriginError) -> Origin {
        guard let address = SocketAddress(literal: host, port: port) else {
            throw OriginError.notAnAddress(host)
        }
        return try start(at: address, loops: loops, configuration: configuration)
    }

    /// Starts an origin on any address, such as a Unix-domain socket, with the given loops or with its own.
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
            if address.port != nil { try socket.setReuseAddress() }
            try socket.bind(to: address)
            try socket.listen(backlog: 4096)
            let bound = try socket.localAddress() ?? address
            let ownGroup =
                loops == nil ? try EventLoopGroup(count: configuration.ownLoops, name: "lupine-origin") : nil
            let origin = Origin(at: bound, service: service, group: loops, ownGroup: ownGroup)
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

    private func listen(_ socket: consuming Socket) {
        let first = loops[0]
        let handle = socket.intoDescriptor().release()
        let (loops, service) = (loops, service)
        let isAccepted = first.loop.executeInline {
            let connections = first.connections.value
            let listener = Listener(
                Socket(adopting: Descriptor(adopting: handle)), on: first.loop, loops: loops,
                service: service)
            guard !connections.isClosed else { return }
            // Registering fails only when the kernel is out of memory; the listener then never accepts, and closes.
            do throws(Errno) { try listener.start() } catch { return listener.stop() }
            connections.adopt(listener)
        }
        if !isAccepted { Descriptor(adopting: handle).close() }
    }

    // MARK: addresses

    /// The port at which the origin listens; 0 for Unix-domain sockets.
    package var port: UInt16 { address.port ?? 0 }

    /// `http://host:port` or `https://host:port`; empty for Unix-domain sockets.
    package var url: String {
        guard let port = address.port, let host = address.host else { return "" }
        let scheme = service.isSecure ? "https" : "http"
        return address.isIPv6 ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)"
    }

    // MARK: routes

    /// Answers requests of `method` (nil: any) for paths that match `pattern`, before the standard endpoints. A segment in braces
    /// matches any one segment, which is added to `parameters`; `{*}` at the end matches all remaining segments. The handler
    /// runs on a loop and must not block.
    package func route(
        _ method: String?, _ pattern: String,
        _ handler: @escaping @Sendable (OriginRequest) throws(Refusal) -> OriginResponse
    ) {
        service.add(method, pattern, .collected(handler))
    }

    /// Answers requests of `method` (nil: any) for paths that match `pattern` with any kind of endpoint, such as one that answers
    /// before the body arrives, or receives the body in pieces.
    package func route(_ method: String?, _ pattern: String, _ endpoint: Endpoint) {
        service.add(method, pattern, endpoint)
    }

    /// Makes a connection that requests a path matching `pattern` follow the plan after the head of that request.
    package func script(_ method: String?, _ pattern: String, _ plan: ScriptPlan) {
        service.add(method, pattern, .script(plan))
    }

    /// Returns the gate that scripts use under `name`. A test opens it for a script, or waits until a script opens it.
    package func gate(_ name: String) -> Gate { service.gate(name) }

    // MARK: records

    /// The live counts.
    package var counts: OriginCounts { service.counts }

    /// Returns the bytes received on a connection, numbered from 0 in order of acceptance, if they are recorded. Over TLS
    /// they are the decrypted content; for a script on the socket, the bytes on the socket.
    package func received(on connection: Int) -> [UInt8] { service.record.bytes(of: connection) }

    /// The first PRIORITY_UPDATE frames that clients have sent (RFC 9218 §7.1), in order of arrival.
    package var priorities: [OriginPriority] { service.priorities.all }

    /// Returns the outcomes of a connection's handshakes, of which there are several if a script starts TLS inside TLS. They are
    /// kept for the newest connections only.
    package func handshakes(on connection: Int) -> [OriginHandshake] {
        service.handshakes.outcomes(of: connection)
    }

    /// Waits until a handshake of a connection has ended, and returns its outcome. Never returns if there is no such handshake.
    package func handshake(on connection: Int, index: Int = 0) async -> OriginHandshake? {
        await service.handshakes.gate(of: connection, index).wait()
        return service.handshakes.outcomes(of: connection).dropFirst(index).first
    }

    // MARK: shutdown

    /// Closes the listener and all connections. Returns when all descriptors are closed and the origin's own threads have ended.
    package func shutdown() async {
        let gate = Gate()
        let count = CountDown(loops.count) { gate.open() }
        closeConnections { count.arrive() }
        await gate.wait()
        await ownGroup?.shutdown()
        removeSocketFile()
    }

    /// Closes the listener and all connections, like `shutdown`, but blocks the calling thread, which must not be a loop's.
    package func shutdownAndWait() {
        let latch = Latch(loops.count)
        closeConnections { latch.arrive() }
        latch.wait()
        ownGroup?.shutdownAndWait()
        removeSocketFile()
    }

    /// Closes the connections and the listener of each loop, and calls `whenClosed` for each loop.
    private func closeConnections(_ whenClosed: @escaping @Sendable () -> Void) {
        for entry in loops {
            let isAccepted = entry.loop.executeInline {
                entry.connections.value.close()
                whenClosed()
            }
            // A loop that refuses work has already made its channels close.
            if !isAccepted { whenClosed() }
        }
    }

    private func removeSocketFile() {
        if case .unix(let path) = address { SocketFile.remove(path) }
    }
}
