// SPDX-License-Identifier: MIT

import LupineHTTP

/// The time-outs of each exchange, and the timers of its rate limits.
extension HTTP2Connection {
    /// Identifies a stream's timers in `timerEnded`. The value is in the two lowest bits of a timer's tag, and the stream's
    /// identifier is in the bits above.
    enum TimerTag: Int { case deadline, continueWait, sendPace, receivePace }

    /// Reports an event to the deadlines of a stream, and makes sure that a timer fires no later than the next deadline.
    func updateDeadlines(_ event: TransferDeadlines.Event, of stream: HTTP2Stream) {
        stream.deadlines.handle(event, at: loop.now)
        let next = stream.deadlines.next?.instant ?? .distantFuture
        guard next < stream.deadlineTimer?.at ?? .distantFuture else { return }
        if let timer = stream.deadlineTimer { loop.cancel(timer.token) }
        stream.deadlineTimer = (schedule(.deadline, of: stream, at: next), next)
    }

    /// Schedules a timer of a stream, which calls `timerEnded`.
    func schedule(_ tag: TimerTag, of stream: HTTP2Stream, at instant: Instant) -> EventLoop.TimerToken {
        loop.schedule(at: instant, self, tag: Int(stream.id.rawValue) << 2 | tag.rawValue)
    }

    /// Fails the exchange if one of its time-outs has expired. Otherwise the deadline has moved to a later time, and the timer is
    /// set again.
    private func deadlineReached(_ stream: HTTP2Stream) {
        stream.deadlineTimer = nil
        guard let timeout = stream.deadlines.expired(at: loop.now) else {
            guard let next = stream.deadlines.next?.instant else { return }
            stream.deadlineTimer = (schedule(.deadline, of: stream, at: next), next)
            return
        }
        // If nothing has arrived since the request was sent, the peer may be gone without having closed the connection: the pool
        // must lease it to no further exchange.
        if let requestStart = stream.metrics.requestStart, lastReceived <= requestStart {
            pool.retireConnection(id)
        }
        fail(
            stream,
            TransportError(
                host: route.host, port: route.port, timeout, after: stream.exchange.options.timeouts[timeout])
        )
    }
}

/// Detection of peers that are gone.
extension HTTP2Connection {
    /// Sends a PING after the head of a new request if the peer has been silent for `LivenessProbe.silence`.
    func pingIfSilent() {
        // Nil if no PING is needed.
        guard let checkTime = liveness.exchangeBegins(at: loop.now, lastReceived: lastReceived)
        else { return }
        // 0 is the payload of the PING. Any value will do: each octet from the peer shows that the peer is alive.
        machine.sendPing(0)
        scheduleLivenessCheck(at: checkTime)
    }

    private func scheduleLivenessCheck(at instant: Instant) {
        livenessTimer = loop.schedule(at: instant) { [weak self] reason in
            guard let self, reason == .due else { return }
            livenessTimer = nil
            checkLiveness()
        }
    }

    /// Ends the connection if its peer is gone. If that is uncertain, the pool leases the connection to no further exchange.
    private func checkLiveness() {
        // Reads first: bytes that arrived while the loop was busy show that the peer is alive.
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
            // `retireConnection` has closed the connection if it carries no exchange.
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
        switch TimerTag(rawValue: tag & 3) {
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
