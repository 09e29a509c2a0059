// SPDX-License-Identifier: MIT

import LupineHTTP

/// The time-outs of each exchange, and work that waits for a timer.
extension HTTP2Connection {
    enum Tag: Int { case deadline, continueWait, sendPace, receivePace }

    /// Reports an event to the deadlines of a stream, and makes sure that a timer fires no later than the next deadline.
    func updateDeadlines(_ event: TransferDeadlines.Event, of stream: HTTP2Stream) {
        stream.deadlines.handle(event, at: loop.now)
        let next = stream.deadlines.next?.instant ?? .distantFuture
        guard next < stream.deadlineTimer?.at ?? .distantFuture else { return }
        if let timer = stream.deadlineTimer { loop.cancel(timer.token) }
        stream.deadlineTimer = (schedule(.deadline, of: stream, at: next), next)
    }

    func schedule(_ tag: Tag, of stream: HTTP2Stream, at instant: Instant) -> EventLoop.TimerToken {
        loop.schedule(at: instant, self, tag: Int(stream.id.rawValue) << 2 | tag.rawValue)
    }

    private func deadlineReached(_ stream: HTTP2Stream) {
        stream.deadlineTimer = nil
        guard let timeout = stream.deadlines.expired(at: loop.now) else {
            guard let next = stream.deadlines.next?.instant else { return }
            stream.deadlineTimer = (schedule(.deadline, of: stream, at: next), next)
            return
        }
        // If nothing at all has arrived since the request was sent, the peer may be gone without closing: no further request
        // is sent to it.
        if let began = stream.metrics.requestStart, lastReceived <= began { pool.retireConnection(id) }
        fail(
            stream,
            TransportError(
                host: route.host, port: route.port, timeout, after: stream.exchange.options.timeouts[timeout])
        )
    }
}

/// Detection of peers that are gone.
extension HTTP2Connection {
    /// Sends a PING, after the head of the request that begins, to a peer that has been silent for long.
    func pingIfSilent() {
        guard let check = liveness.exchangeBegins(at: loop.now, lastReceived: lastReceived) else { return }
        machine.sendPing(0)
        scheduleLivenessCheck(at: check)
    }

    private func scheduleLivenessCheck(at instant: Instant) {
        livenessTimer = loop.schedule(at: instant) { [weak self] reason in
            guard let self, reason == .due else { return }
            livenessTimer = nil
            checkLiveness()
        }
    }

    /// Ends a connection whose peer is gone. If nothing has arrived for a while, the connection gets no further requests.
    private func checkLiveness() {
        // Bytes that arrived while the loop was busy count.
        channel.becameReadable(isClosing: peerIsClosing)
        mayRead = true
        read()
        guard life == .open else { return }
        switch liveness.check(
            at: loop.now, lastReceived: lastReceived, acknowledged: channel.octetsAcknowledged)
        {
        case .alive: break
        case .doubtful(let checkAgain):
            pool.retireConnection(id)
            // The pool closes a draining connection that carries nothing.
            if life == .open { scheduleLivenessCheck(at: checkAgain) }
        case .gone: end(http2Error(.silent))
        }
    }
}

extension HTTP2Connection: TimerTarget {
    func timerEnded(tag: Int, reason: TimerReason) {
        guard let stream = streams[StreamID(UInt32(truncatingIfNeeded: tag >> 2))], reason == .due else {
            return
        }
        switch Tag(rawValue: tag & 3) {
        case .deadline: deadlineReached(stream)
        case .continueWait:
            stream.continueTimer = nil
            releaseContent(of: stream)
        case .sendPace:
            stream.sendPaceTimer = nil
            enqueue(stream)
        case .receivePace:
            stream.receivePaceTimer = nil
            deliverHeldContent(of: stream)
        case nil: break
        }
    }
}
