// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// Streams that become tunnels.
extension HTTP2Connection {
    /// Whether an exchange that opens a web socket may go out now: only a peer that has said that it takes such streams is sent
    /// one (RFC 8441 §3). One whose peer has said nothing yet waits for that.
    func mayOpenWebSocket(_ exchange: Exchange, _ metrics: ExchangeMetrics) -> Bool {
        guard machine.peerHasSet else {
            if exchange.awaitSettings(in: pool) {
                awaitingSettings.append(exchange)
                decline(exchange)
            } else {
                refuse(exchange, exchange.cancellation ?? .cancelled, metrics)
            }
            return false
        }
        guard machine.peerSettings.enableConnectProtocol else {
            refuse(exchange, http2(.noWebSockets), metrics)
            return false
        }
        return true
    }

    /// The peer has said what it allows: what waited for that is sent, and the pool knows whether more may be.
    func peerHasSet() {
        if machine.peerSettings.enableConnectProtocol { pool.takesWebSockets(id) }
        sendAwaiting()
    }

    /// The pool gives a connection to what waited for the peer's settings: this one, if it is still there.
    func sendAwaiting() {
        var waiting: [Exchange] = []
        swap(&waiting, &awaitingSettings)
        for exchange in waiting { exchange.submitAgain(to: pool) }
    }

    /// What waited for the peer's settings waits in vain.
    func failAwaiting(_ error: TransportError) {
        var waiting: [Exchange] = []
        swap(&waiting, &awaitingSettings)
        for exchange in waiting { pool.end(exchange, error) }
    }

    /// The peer has taken the web socket: the stream is its owner's from here on, and the exchange is over.
    func beginTunnel(on stream: HTTP2Stream) {
        let tunnel = HTTP2Tunnel(stream, of: self)
        stream.tunnel = tunnel
        // Silence is nothing unusual any more, no deadline ends it, and no rate is its.
        if let timer = stream.deadlineTimer.take() { loop.cancel(timer.token) }
        stream.deadlines = TransferDeadlines(TransferTimeouts(), at: loop.now)
        (stream.receiveRate, stream.sendRate) = (nil, nil)
        let handler = stream.exchange.sink.upgraded(UpgradedConnection(tunnel, on: loop))
        // It may have been closed by whoever was just given it.
        if isCarrying(stream) { tunnel.handler = handler }
        var metrics = stream.metrics
        metrics.responseEnd = loop.now
        stream.exchange.end(.success(Fields()), metrics)
    }

    /// Tells of the end of an exchange, or of what its stream has become.
    func tell(_ result: Result<Fields, TransportError>, of stream: HTTP2Stream) {
        let result = result.mapError { named($0, for: stream.exchange) }
        guard let tunnel = stream.tunnel else { return stream.exchange.end(result, stream.metrics) }
        if case .failure(let error) = result { tunnel.ended(error) } else { tunnel.ended(nil) }
    }

    /// A tunnel has something to send, or to end.
    func wakeTunnel(_ stream: HTTP2Stream) {
        if case .awaiting(let source) = stream.feed.state { stream.feed.state = .stream(source) }
        enqueue(stream)
    }

    /// The peer sends no more, and all has been passed on. It may still read: what waits for it goes first.
    func tunnelEnded(_ stream: HTTP2Stream, _ tunnel: HTTP2Tunnel) {
        tunnel.peerHasEnded = true
        guard life == .open, writeFailure == nil, stream.isSending else { return endTunnel(of: stream) }
        wakeTunnel(stream)
    }

    /// Both halves have ended in order.
    private func endTunnel(of stream: HTTP2Stream) {
        perform(stream.machine.handle(.broken), on: stream, .success(Fields()))
    }

    /// What a tunnel sends next: the stream's feed has it, if that is anything.
    func produce(_ stream: HTTP2Stream, from tunnel: HTTP2Tunnel, _ source: any ContentSource)
        throws(TransportError) -> Bool
    {
        if let bytes = tunnel.next() {
            stream.feed.state = .piece(bytes, from: 0, source)
            return true
        }
        stream.feed.state = .awaiting(source)
        guard tunnel.peerHasEnded else { return false }
        try end(stream)
        // In a turn of its own: this one is put together still.
        loop.executeOnLoop { [self] in endTunnel(of: stream) }
        return false
    }
}
