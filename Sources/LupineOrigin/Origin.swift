// SPDX-License-Identifier: MIT

internal import LupineTLS
package import LupineTransport

/// A small origin server for HTTP/1.1 and HTTP/2: what the tests, the demo and `lupine serve` talk to.
///
/// It answers the endpoints that people know from httpbin (see `Router.standard`), whatever a test adds with
/// `route`, and follows scripts byte by byte; over TLS if `OriginConfiguration.tls` is set. It listens on loopback
/// unless it is given another address. Not a public server: it has no access control and no log. It runs until
/// it is shut down. Any thread.
package final class Origin: Sendable {
    /// Where it listens.
    package let address: SocketAddress
    private let service: OriginService
    private let ownGroup: EventLoopGroup?
    private let homes: [(loop: EventLoop, residents: LoopBound<LoopResidents>)]

    /// Starts on an IP address given as text; port 0 lets the kernel choose.
    package static func start(
        host: String = "127.0.0.1", port: UInt16 = 0, loops: EventLoopGroup? = nil,
        configuration: OriginConfiguration = OriginConfiguration()
    ) throws(OriginError) -> Origin {
        guard let address = SocketAddress(literal: host, port: port) else {
            throw OriginError.notAnAddress(host)
        }
        return try start(at: address, loops: loops, configuration: configuration)
    }

    /// Starts on any address, such as a Unix-domain socket, with the loops given or with loops of its own.
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
            let own =
                loops == nil ? try EventLoopGroup(count: configuration.ownLoops, name: "lupine-origin") : nil
            let origin = Origin(at: bound, service: service, group: loops, own: own)
            origin.listen(socket)
            return origin
        } catch {
            throw .cannotListen(at: address, error)
        }
    }

    private init(
        at address: SocketAddress, service: OriginService, group: EventLoopGroup?, own: EventLoopGroup?
    ) {
        self.address = address
        self.service = service
        ownGroup = own
        homes = (group ?? own)?.loops.map { ($0, LoopBound(sending: LoopResidents(), to: $0)) } ?? []
    }

    private func listen(_ socket: consuming Socket) {
        let home = homes[0]
        let handle = socket.intoDescriptor().release()
        let (homes, service) = (homes, service)
        let accepted = home.loop.executeInline {
            let residents = home.residents.value
            let listener = Listener(
                Socket(adopting: Descriptor(adopting: handle)), on: home.loop, homes: homes, service: service)
            guard !residents.isClosed else { return }
            // Without a registration the clients are never accepted; the kernel refuses one only without memory.
            do throws(Errno) { try listener.start() } catch { return listener.stop() }
            residents.adopt(listener)
        }
        if !accepted { Descriptor(adopting: handle).close() }
    }

    // MARK: where

    /// The port; 0 for Unix-domain sockets.
    package var port: UInt16 { address.port ?? 0 }

    /// `http://host:port` or `https://host:port`; empty for Unix-domain sockets.
    package var url: String {
        guard let port = address.port, let host = address.host else { return "" }
        let scheme = service.isSecure ? "https" : "http"
        return address.isIPv6 ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)"
    }

    // MARK: what it answers

    /// Answers `method` (nil: any) at paths of `pattern`, before any standard endpoint. Segments in braces match
    /// anything and become `parameters`; `{*}` at the end matches the rest. The handler runs on a loop and must
    /// not wait.
    package func route(
        _ method: String?, _ pattern: String,
        _ handler: @escaping @Sendable (OriginRequest) throws(Refusal) -> OriginResponse
    ) {
        service.add(method, pattern, .collected(handler))
    }

    /// Adds any kind of endpoint, such as one that answers before the body arrives or receives it piece by piece.
    package func route(_ method: String?, _ pattern: String, _ endpoint: Endpoint) {
        service.add(method, pattern, endpoint)
    }

    /// Connections that request a path of `pattern` follow the plan, starting after the request's head.
    package func script(_ method: String?, _ pattern: String, _ plan: ScriptPlan) {
        service.add(method, pattern, .script(plan))
    }

    /// Returns the gate that scripts use by that name, to open it or to wait until a script opens it.
    package func gate(_ name: String) -> Gate { service.gate(name) }

    // MARK: what it has seen

    /// The counts, updated continuously.
    package var counts: OriginCounts { service.counts }

    /// The content that came on a connection, numbered from 0 in order of acceptance, if it is recorded. Over TLS that is
    /// what came inside; for a script on the socket, what came on it.
    package func received(on connection: Int) -> [UInt8] { service.record.bytes(of: connection) }

    /// The first priorities that clients sent by PRIORITY_UPDATE (RFC 9218 §7.1), in order of arrival.
    package var priorities: [OriginPriority] { service.priorities.all }

    /// How the handshakes of a connection ended: one, or more where TLS was begun inside of TLS; of the newest connections.
    package func handshakes(on connection: Int) -> [OriginHandshake] {
        service.handshakes.outcomes(of: connection)
    }

    /// Waits for a connection's handshake and returns its outcome; waits forever if the handshake never starts.
    package func handshake(on connection: Int, index: Int = 0) async -> OriginHandshake? {
        await service.handshakes.gate(of: connection, index).wait()
        return service.handshakes.outcomes(of: connection).dropFirst(index).first
    }

    // MARK: the end

    /// Closes everything and returns when the last descriptor, and the last thread of its own, is gone.
    package func shutdown() async {
        let gate = Gate()
        let count = CountDown(homes.count) { gate.open() }
        closeHomes { count.arrive() }
        await gate.wait()
        await ownGroup?.shutdown()
        removeSocketFile()
    }

    /// The same, blocking; not on a loop.
    package func shutdownAndWait() {
        let latch = Latch(homes.count)
        closeHomes { latch.arrive() }
        latch.wait()
        ownGroup?.shutdownAndWait()
        removeSocketFile()
    }

    private func closeHomes(_ done: @escaping @Sendable () -> Void) {
        for home in homes {
            let accepted = home.loop.executeInline {
                home.residents.value.close()
                done()
            }
            // A loop that refuses the work has already notified its channels, which have closed.
            if !accepted { done() }
        }
    }

    private func removeSocketFile() {
        if case .unix(let path) = address { SocketFile.remove(path) }
    }
}
