// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTLS

/// A connection that the pool leases to exchanges, whatever protocol it speaks.
///
/// It holds the state that every connection has, and declares the operations that an exchange and the pool call;
/// `HTTP1Connection` and `HTTP2Connection` override them. A class and not a protocol, so that a reference is one pointer:
/// HTTP/1.1 pays nothing else for the abstraction. It is confined to one loop; other threads reach it through `LoopBound`.
class Carrier {
    final let loop: EventLoop
    final let id: ConnectionID
    final let pool: ConnectionPool
    final let route: ConnectionRoute
    final var channel: ByteChannel
    final var registration: Registration?
    /// Whether the kernel may have more to read. Remembered, because readiness is edge-triggered.
    final var mayRead: Bool
    final var mayWrite = true
    final var peerIsClosing = false
    /// Whether it has carried an exchange.
    final var wasUsed = false
    /// The time from which the kernel is to probe the peer, unless something else starts the probes before; nil once they have
    /// started. A connection that carries one short exchange and closes never starts them.
    final private(set) var keepAliveProbesStart: Instant?

    /// Creates a connection over an established channel. The subclass takes over the registration.
    init(
        _ channel: consuming ByteChannel, _ registration: Registration, _ id: ConnectionID,
        route: ConnectionRoute, mayRead: Bool, pool: ConnectionPool, loop: EventLoop
    ) {
        self.channel = consume channel
        self.registration = registration
        self.id = id
        self.route = route
        self.mayRead = mayRead
        self.pool = pool
        self.loop = loop
        if let probes = route.probes { keepAliveProbesStart = loop.now + probes.latestStart }
    }

    // MARK: for the pool

    /// The number of concurrent exchanges it can carry, as far as is known when it is opened.
    var capacity: Int { 1 }

    /// Called once, after the pool has added the connection. The pool may have run an exchange on it already.
    func opened() { Self.mustInherit() }

    /// Carries out an exchange to which the pool has leased the connection.
    func run(_ exchange: Exchange) { Self.mustInherit() }

    /// Called when the pool closes the connection while it carries no exchange.
    func close() { Self.mustInherit() }

    /// Closes the connection and ends its exchanges with `error`.
    func abort(_ error: TransportError) { Self.mustInherit() }

    // MARK: for an exchange. One that has left the connection means nothing to it

    /// Cancels the exchange with `error`.
    func cancel(_ exchange: Exchange, _ error: TransportError) { Self.mustInherit() }

    /// Called when the exchange's owner needs no more of the response.
    func skip(_ exchange: Exchange) { Self.mustInherit() }

    /// Called when the consumer accepts content again.
    func resume(_ exchange: Exchange) { Self.mustInherit() }

    /// Called when the exchange's owner has suspended or resumed it.
    func suspensionChanged(of exchange: Exchange) { Self.mustInherit() }

    /// Called when the priority of the exchange has changed. Has no effect on a connection that carries one exchange at a
    /// time.
    func priorityChanged(of exchange: Exchange) {}

    // MARK: for itself

    /// Returns the connection to the pool unused, unless the exchange's own client certificate was sent on it (U-11.20).
    func returnUnused() { Self.mustInherit() }

    private static func mustInherit() -> Never {
        preconditionFailure("\(self) does not say how it carries exchanges")
    }

    // MARK: what all have in common

    /// The initial metrics of an exchange that the connection takes.
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

    /// Ends an exchange of which no byte has been sent. The connection is returned in a separate loop job: the next exchange
    /// may be refused as well, and a long queue of these would overflow the stack.
    final func refuse(_ exchange: Exchange, _ error: TransportError, _ metrics: ExchangeMetrics) {
        loop.executeOnLoop {
            self.returnUnused()
            exchange.end(.failure(error), metrics)
        }
    }

    /// Returns the connection without sending a byte, because the exchange is suspended.
    final func decline(_ exchange: Exchange) {
        if exchange.needsWatch { exchange.watchWaiting(on: loop) }
        loop.executeOnLoop { self.returnUnused() }
    }

    /// Has the kernel probe the peer, so that a connection whose peer is gone does not stay open for ever.
    final func startKeepAliveProbes() {
        guard keepAliveProbesStart != nil, let probes = route.probes else { return }
        keepAliveProbesStart = nil
        channel.setKeepAlive(probes)
    }
}
