// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTLS

/// A connection that the pool leases to exchanges, over HTTP/1.1 or HTTP/2.
///
/// An exchange is one request with its response. `Carrier` holds the state that every connection has, and declares the
/// operations that an exchange and the pool call; `HTTP1Connection` and `HTTP2Connection` override them. It is a class and not a
/// protocol, because a reference to a class is a single pointer. It is confined to one loop; other threads reach it through
/// `LoopBound`.
class Carrier {
    final let loop: EventLoop
    final let id: ConnectionID
    final let pool: ConnectionPool
    final let route: ConnectionRoute
    /// Reads and writes the connection's bytes: a socket, or TLS on top of a socket.
    final var channel: ByteChannel
    /// The socket's registration with the loop; nil once the socket is closed.
    final var registration: Registration?
    /// Whether the kernel may have more to read. A readiness event sets it, and a read that would block clears it: readiness is
    /// edge-triggered, so the poller does not report it again.
    final var mayRead: Bool
    /// Whether the kernel may accept more output. A write that would block clears it, and a readiness event sets it again.
    final var mayWrite = true
    /// Whether the poller has reported that the peer has closed its end.
    final var peerIsClosing = false
    /// The result of the dial, whose times the first exchange reports; nil once the connection has carried an exchange, so that
    /// an idle connection does not hold it.
    private final var dialed: DialedChannel?
    /// Whether the connection has carried an exchange.
    final var wasUsed: Bool { dialed == nil }
    /// When the keep-alive probes start at the latest; nil once they have started. A connection that carries one short exchange
    /// and closes never starts them.
    final private(set) var keepAliveProbesStart: Instant?

    /// Creates a connection over an established channel. The subclass takes over the registration.
    init(
        _ channel: consuming ByteChannel, _ dialed: DialedChannel, _ id: ConnectionID,
        pool: ConnectionPool, loop: EventLoop
    ) {
        self.channel = consume channel
        self.dialed = dialed
        registration = dialed.registration
        self.id = id
        route = dialed.route
        mayRead = dialed.mayRead
        self.pool = pool
        self.loop = loop
        if let probes = dialed.route.probes { keepAliveProbesStart = loop.now + probes.latestStart }
    }

    // MARK: for the pool

    /// The number of concurrent exchanges that the pool may assume when the connection opens; `ConnectionPool.capacityChanged`
    /// replaces it later.
    var capacity: Int { 1 }

    /// Called once, after the pool has added the connection. An exchange may already run on the connection by then.
    func didOpen() { Self.mustOverride() }

    /// Carries out an exchange to which the pool has leased the connection.
    func run(_ exchange: Exchange) { Self.mustOverride() }

    /// Called when the pool closes the connection while it carries no exchange.
    func close() { Self.mustOverride() }

    /// Closes the connection and ends its exchanges with `error`.
    func abort(_ error: TransportError) { Self.mustOverride() }

    // MARK: for an exchange
    // These calls have no effect once the exchange has left the connection.

    /// Cancels the exchange with `error`.
    func cancel(_ exchange: Exchange, _ error: TransportError) { Self.mustOverride() }

    /// Called when the exchange's owner needs no more of the response.
    func skip(_ exchange: Exchange) { Self.mustOverride() }

    /// Called when the consumer accepts content again.
    func resume(_ exchange: Exchange) { Self.mustOverride() }

    /// Called when the exchange's owner has suspended or resumed it.
    func suspensionChanged(of exchange: Exchange) { Self.mustOverride() }

    /// Called when the priority of the exchange has changed. Has no effect on a connection that carries one exchange at a
    /// time.
    func priorityChanged(of exchange: Exchange) {}

    // MARK: for the methods below

    /// Ends the lease of an exchange that has sent nothing. The pool may lease the connection again, unless the exchange's own
    /// client certificate was presented on it. Such a connection closes, because it may carry no other exchange (U-11.20).
    func returnUnused() { Self.mustOverride() }

    private static func mustOverride() -> Never {
        preconditionFailure("\(self) does not say how it carries exchanges")
    }

    // MARK: shared by both protocols

    /// Returns the metrics of an exchange that begins on the connection.
    @inline(__always)
    final func initialMetrics(of exchange: Exchange) -> ExchangeMetrics {
        var metrics = ExchangeMetrics(fetchStart: exchange.createdAt)
        metrics.isReused = wasUsed
        metrics.dial = dialed?.times
        metrics.localAddress = route.localAddress
        metrics.remoteAddress = route.remoteAddress
        metrics.usedProxy = route.usesProxy
        metrics.tls = route.tls
        metrics.wasReplayed = exchange.wasReplayed
        return metrics
    }

    /// Records that the connection carries an exchange, which has the initial metrics.
    final func recordUse() { if dialed != nil { dialed = nil } }

    /// Ends an exchange with `error` before any byte of it has been sent. A separate loop job returns the connection to the pool:
    /// the pool may run the next exchange on it at once, and a long queue of refused exchanges would overflow the stack.
    final func refuse(_ exchange: Exchange, _ error: TransportError, _ metrics: ExchangeMetrics) {
        loop.executeOnLoop {
            self.returnUnused()
            exchange.end(.failure(error), metrics)
        }
    }

    /// Returns the connection to the pool on behalf of an exchange that has been parked, because its owner has suspended it or
    /// because it waits for the peer's settings. The time-outs of the exchange continue to run.
    final func decline(_ exchange: Exchange) {
        if exchange.hasWaitTimeouts { exchange.runWaitTimeouts(on: loop) }
        loop.executeOnLoop { self.returnUnused() }
    }

    /// Turns on TCP keep-alive, so that the kernel closes a connection whose peer is gone. Has no effect after the first call.
    final func startKeepAliveProbes() {
        guard keepAliveProbesStart != nil, let probes = route.probes else { return }
        keepAliveProbesStart = nil
        channel.setKeepAlive(probes)
    }
}
