// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTLS

/// What the pool lends exchanges on: one connection, whatever is spoken on it.
///
/// It holds what every connection has and names what an exchange and the pool ask of one; `HTTP1Connection` and
/// `HTTP2Connection` do it. A class and not a protocol: who holds one holds a pointer, which is all that HTTP/1.1 pays for
/// not being alone. It lives on one loop, and nobody else touches it; other threads reach it through `LoopBound`.
class Carrier {
    final let loop: EventLoop
    final let id: ConnectionID
    final let pool: ConnectionPool
    final let route: Route
    final var channel: ByteChannel
    final var registration: Registration?
    /// The kernel may have more for us: edge-triggered readiness, remembered.
    final var mayRead: Bool
    final var mayWrite = true
    final var peerIsClosing = false
    /// It has carried an exchange.
    final var wasUsed = false
    /// From when on the kernel is to probe it, if nothing else has had it begin before; nil when it does so already. Those
    /// that carry one short exchange and close never ask for it.
    final private(set) var probesBegin: Instant?

    /// What every exchange on a connection has in common. Made once and passed on by reference.
    final class Route: Sendable {
        let host: String
        /// What errors name beside the host.
        let port: UInt16
        let localAddress: SocketAddress?
        let remoteAddress: SocketAddress?
        /// How the kernel is to probe it when it is silent; nil for not at all.
        let probes: KeepAliveProbes?
        let usesProxy: Bool
        let dial: DialMetrics
        /// What TLS with the origin has agreed on.
        let tls: TLSDetails?
        /// What its handshake has shown.
        let evidence: PeerEvidence?
        /// Where an HTTP proxy is asked in absolute form: what goes before the path.
        let absolutePrefix: String?
        /// Sent to such a proxy.
        let proxyAuthorization: String?
        /// Whether both ends have the same address. A file's pages, which cost the sender nothing there, cost the receiver
        /// more than a copy costs both.
        let staysOnMachine: Bool

        init(
            host: String, port: UInt16, localAddress: SocketAddress?, remoteAddress: SocketAddress?,
            probes: KeepAliveProbes?, usesProxy: Bool, dial: DialMetrics, tls: TLSDetails?,
            evidence: PeerEvidence?, absolutePrefix: String?,
            proxyAuthorization: String?
        ) {
            self.host = host
            self.port = port
            self.localAddress = localAddress
            self.remoteAddress = remoteAddress
            self.probes = probes
            self.usesProxy = usesProxy
            self.dial = dial
            self.tls = tls
            self.evidence = evidence
            self.absolutePrefix = absolutePrefix
            self.proxyAuthorization = proxyAuthorization
            // Neither is nil where content is sent.
            staysOnMachine = localAddress?.with(port: 0) == remoteAddress?.with(port: 0)
        }
    }

    /// A connection over a channel that stands. Who inherits takes over the registration.
    init(
        _ channel: consuming ByteChannel, _ registration: Registration, _ id: ConnectionID, route: Route,
        mayRead: Bool, pool: ConnectionPool, loop: EventLoop
    ) {
        self.channel = consume channel
        self.registration = registration
        self.id = id
        self.route = route
        self.mayRead = mayRead
        self.pool = pool
        self.loop = loop
        if let probes = route.probes { probesBegin = loop.now + probes.latestStart }
    }

    // MARK: for the pool

    /// How many exchanges it carries at once, as far as is known when it is opened.
    var capacity: Int { 1 }

    /// The pool knows it, and may have had it run an exchange already. Called once.
    func opened() { Self.mustInherit() }

    /// Carries out an exchange; the pool has leased the connection to it.
    func run(_ exchange: Exchange) { Self.mustInherit() }

    /// The pool wants it gone; it carries nothing.
    func close() { Self.mustInherit() }

    /// Closes it, ending what is under way with `error`.
    func abort(_ error: TransportError) { Self.mustInherit() }

    // MARK: for an exchange. One that has left the connection means nothing to it

    /// The owner of the exchange takes it back.
    func cancel(_ exchange: Exchange, _ error: TransportError) { Self.mustInherit() }

    /// The owner of the exchange wants no more of the response than it has.
    func skip(_ exchange: Exchange) { Self.mustInherit() }

    /// The consumer takes more again.
    func resume(_ exchange: Exchange) { Self.mustInherit() }

    /// The owner of the exchange wants it to stand still, or to go on.
    func suspensionChanged(of exchange: Exchange) { Self.mustInherit() }

    /// The exchange has another priority. Means nothing where there is only one.
    func priorityChanged(of exchange: Exchange) {}

    // MARK: for itself

    /// Goes back as it was lent, unless its peer has been told who the exchange's owner is (U-11.20).
    func giveBackUnused() { Self.mustInherit() }

    private static func mustInherit() -> Never {
        preconditionFailure("\(self) does not say how it carries exchanges")
    }

    // MARK: what all have in common

    /// What is known of an exchange when the connection takes it.
    @inline(__always)
    final func metrics(ofBeginning exchange: Exchange) -> ExchangeMetrics {
        var metrics = ExchangeMetrics(fetchStart: exchange.began)
        metrics.isReused = wasUsed
        metrics.dial = wasUsed ? nil : route.dial
        metrics.localAddress = route.localAddress
        metrics.remoteAddress = route.remoteAddress
        metrics.usedProxy = route.usesProxy
        metrics.tls = route.tls
        metrics.wasReplayed = exchange.wasReplayed
        return metrics
    }

    /// Ends an exchange of which not a byte has gone. The connection goes back in a step of its own: the next exchange
    /// may be refused as well, and a long queue of such would end in as deep a stack.
    final func refuse(_ exchange: Exchange, _ error: TransportError, _ metrics: ExchangeMetrics) {
        loop.executeOnLoop {
            self.giveBackUnused()
            exchange.end(.failure(error), metrics)
        }
    }

    /// Goes back without a byte sent, because the exchange is suspended.
    final func decline(_ exchange: Exchange) {
        if exchange.needsWatch { exchange.watchWaiting(on: loop) }
        loop.executeOnLoop { self.giveBackUnused() }
    }

    /// Has the kernel probe the peer: what is silent because the peer is gone is not kept for ever.
    final func beginProbes() {
        guard probesBegin != nil, let probes = route.probes else { return }
        probesBegin = nil
        channel.probe(probes)
    }
}
