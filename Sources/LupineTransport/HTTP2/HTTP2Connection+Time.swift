// SPDX-License-Identifier: MIT

import LupineHTTP

/// The time-outs of each exchange, and what waits for its time.
extension HTTP2Connection {
    enum Tag: Int { case deadline, continueWait, sendPace, receivePace }

    /// Tells the deadlines of a stream, and sees to it that a timer ends no later than the next of them.
    func note(_ event: TransferDeadlines.Event, of stream: HTTP2Stream) {
        stream.deadlines.handle(event, at: loop.now)
        let next = stream.deadlines.next?.instant ?? .distantFuture
        guard next < stream.deadlineTimer?.at ?? .distantFuture else { return }
        if let timer = stream.deadlineTimer { loop.cancel(timer.token) }
        stream.deadlineTimer = (schedule(.deadline, of: stream, at: next), next)
    }

    func schedule(_ tag: Tag, of stream: HTTP2Stream, at instant: Instant) -> EventLoop.TimerToken {
        loop.schedule(at: instant, self, tag: Int(stream.id.rawValue) << 2 | tag.rawValue)
    }

    private func deadlineCame(_ stream: HTTP2Stream) {
        stream.deadlineTimer = nil
        guard let timeout = stream.deadlines.expired(at: loop.now) else {
            guard let next = stream.deadlines.next?.instant else { return }
            stream.deadlineTimer = (schedule(.deadline, of: stream, at: next), next)
            return
        }
        // Where nothing at all has come since the request went out, the peer may be gone without a word: no other request is to
        // find that out.
        if let began = stream.metrics.requestStart, lastReceived <= began { pool.drains(id) }
        fail(
            stream,
            TransportError(
                host: route.host, port: route.port, timeout, after: stream.exchange.options.timeouts[timeout])
        )
    }
}

/// Peers that may be gone.
extension HTTP2Connection {
    /// Asks a peer that was silent for long whether it is there, behind the head of the request that begins.
    func askIfSilent() {
        guard let look = liveness.exchangeBegins(at: loop.now, lastReceived: lastReceived) else { return }
        machine.sendPing(0)
        lookLater(look)
    }

    private func lookLater(_ instant: Instant) {
        livenessTimer = loop.schedule(at: instant) { [weak self] reason in
            guard let self, reason == .due else { return }
            livenessTimer = nil
            lookForSigns()
        }
    }

    /// Gives up a connection whose peer is gone. One of whom nothing has come for a while gets no further requests.
    private func lookForSigns() {
        // What has come while the loop was busy counts.
        channel.becameReadable(isClosing: peerIsClosing)
        mayRead = true
        read()
        guard life == .open else { return }
        switch liveness.look(
            at: loop.now, lastReceived: lastReceived, acknowledged: channel.octetsAcknowledged)
        {
        case .alive: break
        case .doubtful(let lookAgain):
            pool.drains(id)
            // A connection that carried nothing has been closed for that.
            if life == .open { lookLater(lookAgain) }
        case .gone: end(http2(.silent))
        }
    }
}

extension HTTP2Connection: TimerTarget {
    func timerEnded(tag: Int, reason: TimerReason) {
        guard let stream = streams[StreamID(UInt32(truncatingIfNeeded: tag >> 2))], reason == .due else {
            return
        }
        switch Tag(rawValue: tag & 3) {
        case .deadline: deadlineCame(stream)
        case .continueWait:
            stream.continueTimer = nil
            release(stream)
        case .sendPace:
            stream.sendPaceTimer = nil
            enqueue(stream)
        case .receivePace:
            stream.receivePaceTimer = nil
            passOnHeld(of: stream)
        case nil: break
        }
    }
}
