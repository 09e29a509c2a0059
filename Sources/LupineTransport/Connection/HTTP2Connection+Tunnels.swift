// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// Streams that become WebSocket tunnels: after an extended CONNECT, their DATA frames carry the WebSocket (RFC 8441).
extension HTTP2Connection {
    /// Returns whether an exchange that opens a WebSocket may be sent now. If the peer's settings have not arrived, parks the
    /// exchange until then. If they do not enable extended CONNECT (RFC 8441 §3), ends the exchange.
    func admitWebSocket(_ exchange: Exchange, _ metrics: ExchangeMetrics) -> Bool {
        guard machine.hasPeerSettings else {
            // False if the exchange was cancelled.
            let isParked = exchange.awaitSettings(in: pool)
            if isParked {
                exchangesAwaitingSettings.append(exchange)
                decline(exchange)
            } else {
                refuse(exchange, exchange.cancellation ?? .cancelled, metrics)
            }
            return false
        }
        guard machine.peerSettings.enableConnectProtocol else {
            refuse(exchange, http2Error(.noWebSockets), metrics)
            return false
        }
        return true
    }

    /// Called when the peer's settings have arrived: tells the pool if the peer has enabled WebSockets, and submits the exchanges
    /// that waited.
    func peerSettingsArrived() {
        if machine.peerSettings.enableConnectProtocol { pool.acceptsWebSockets(id) }
        submitExchangesAwaitingSettings()
    }

    /// Submits the exchanges that waited for the peer's settings to the pool, which leases this connection to them if it is
    /// still open.
    func submitExchangesAwaitingSettings() {
        var waiting: [Exchange] = []
        swap(&waiting, &exchangesAwaitingSettings)
        for exchange in waiting { exchange.submitAgain(to: pool) }
    }

    /// Fails the exchanges that waited for the peer's settings.
    func failExchangesAwaitingSettings(_ error: TransportError) {
        var waiting: [Exchange] = []
        swap(&waiting, &exchangesAwaitingSettings)
        for exchange in waiting { pool.end(exchange, error) }
    }

    /// Called when the peer has accepted the WebSocket: ends the exchange, and passes the stream's content to an upgrade handler.
    func beginTunnel(on stream: HTTP2Stream) {
        let tunnel = HTTP2Tunnel(stream, of: self)
        stream.tunnel = tunnel
        // Silence is normal in a tunnel, so no deadline and no rate limit applies.
        if let timer = stream.deadlineTimer.take() { loop.cancel(timer.token) }
        stream.deadlines = TransferDeadlines(TransferTimeouts(), at: loop.now)
        (stream.receiveRate, stream.sendRate) = (nil, nil)
        let handler = stream.exchange.sink.upgraded(UpgradedConnection(tunnel, on: loop))
        // The sink may have closed the tunnel in `upgraded`.
        if isCarrying(stream) { tunnel.handler = handler }
        var metrics = stream.metrics
        metrics.responseEnd = loop.now
        stream.exchange.end(.success(Fields()), metrics)
    }

    /// Reports the end of a stream: to the handler of its tunnel if there is one, and otherwise to the exchange.
    func reportEnd(_ result: Result<Fields, TransportError>, of stream: HTTP2Stream) {
        let result = result.mapError { attributed($0, to: stream.exchange) }
        guard let tunnel = stream.tunnel else { return stream.exchange.end(result, stream.metrics) }
        if case .failure(let error) = result { tunnel.streamEnded(error) } else { tunnel.streamEnded(nil) }
    }

    /// Queues the stream of a tunnel that has octets to send or must end.
    func wakeTunnel(_ stream: HTTP2Stream) {
        // In the state `stream`, `appendFrame` gets the next octets from the tunnel.
        if case .awaiting(let source) = stream.feed.state { stream.feed.state = .stream(source) }
        enqueue(stream)
    }

    /// Called when the peer has ended its half of the stream, and all its octets have been delivered. The peer may still read, so
    /// waiting octets are sent before the tunnel ends.
    func peerEndedTunnel(_ tunnel: HTTP2Tunnel, on stream: HTTP2Stream) {
        tunnel.peerHasEnded = true
        guard life == .open, writeFailure == nil, stream.isSending else { return endTunnel(of: stream) }
        wakeTunnel(stream)
    }

    /// Ends the tunnel in order: the peer has ended its half of the stream, and this end has ended its own or can send no more.
    private func endTunnel(of stream: HTTP2Stream) {
        // `.broken` ends the machine in any state; `.success` makes the tunnel's handler receive an orderly end.
        perform(stream.machine.handle(.broken), on: stream, .success(Fields()))
    }

    /// Moves the tunnel's next octets to the stream's feed. Returns false if there are none; if the peer has ended its half too,
    /// the tunnel then ends.
    func refillFeed(of stream: HTTP2Stream, from tunnel: HTTP2Tunnel, _ source: any ContentSource)
        throws(TransportError) -> Bool
    {
        if let bytes = tunnel.removeWaitingOctets() {
            stream.feed.state = .piece(bytes, from: 0, source)
            return true
        }
        stream.feed.state = .awaiting(source)
        guard tunnel.peerHasEnded else { return false }
        try endRequest(of: stream)
        // This runs in a separate loop job: the caller is still collecting output, and the END_STREAM flag must be part of it.
        loop.executeOnLoop { [self] in endTunnel(of: stream) }
        return false
    }
}
