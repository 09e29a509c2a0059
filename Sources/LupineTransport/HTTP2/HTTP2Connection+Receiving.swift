// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// The way in: bytes from the channel through the machine to the sinks, each as fast as its own takes them.
extension HTTP2Connection {
    /// Reads and handles all that has come.
    func read() {
        guard mayRead, life == .open, !isReading else { return }
        isReading = true
        var buffer = loop.borrowReadBuffer()
        var turns = 0
        while mayRead, life == .open {
            turns += 1
            // What a peer sends decides how long it takes.
            if turns > Self.turns || turns > 1 && loop.isLate {
                yieldReading()
                break
            }
            readOnce(into: &buffer)
        }
        loop.giveBack(readBuffer: buffer)
        isReading = false
        caughtUp()
        // Nothing that the peer has said before is left.
        if let writeFailure, !mayRead, life == .open { return end(writeFailure) }
        if life == .open { writeSoon() }
    }

    private func readOnce(into buffer: inout [UInt8]) {
        let outcome: ReadOutcome
        let room = buffer.count
        do throws(ChannelFailure) {
            var space = buffer.mutableSpan
            outcome = try channel.receive(into: &space)
        } catch {
            mayRead = false
            return end(farewellError ?? error.transportError(host: route.host, port: route.port))
        }
        defer { endIfRenegotiating() }
        switch outcome {
        case .wouldBlock:
            mayRead = false
        case .end:
            mayRead = false
            peerClosed()
        case .bytes(let count):
            lastReceived = loop.now
            // A closing peer's end is still to be seen.
            if !peerIsClosing, !channel.mayHoldMore(after: count, of: room) { mayRead = false }
            take(buffer.span.extracting(first: count))
        }
    }

    /// A peer that asks for another handshake of TLS breaks the protocol (RFC 9113 §9.2.1).
    private func endIfRenegotiating() {
        guard life == .open, channel.hasRefusedRenegotiation else { return }
        mayRead = false
        machine.fail(.renegotiation)
        end(.tls(host: route.host, port: route.port, .renegotiation))
    }

    /// Lets the loop's other connections have their turn; this one goes on in the next.
    private func yieldReading() {
        guard !isReadDue else { return }
        isReadDue = true
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop {
            bound.value.isReadDue = false
            bound.value.read()
        }
    }

    /// The peer sends no more: nothing that is not here will come.
    private func peerClosed() {
        end(
            farewellError ?? writeFailure
                ?? .http(host: route.host, port: route.port, .truncated(.beforeHead)))
    }

    /// What the peer's GOAWAY says of the end that follows it, if it says that something was wrong.
    private var farewellError: TransportError? {
        guard let farewell, farewell != .noError else { return nil }
        return http2(.goAway(farewell))
    }

    // MARK: events

    /// Feeds the machine and passes on what it says, until it needs more.
    func take(_ bytes: Span<UInt8>) {
        var start = 0
        while life == .open {
            let rest = bytes.extracting(droppingFirst: start)
            let event: HTTP2Event
            let consumed: Int
            do throws(HTTP2ConnectionError) {
                (event, consumed) = try machine.next(rest, at: time)
            } catch {
                tellPendingHead(before: nil)
                return end(http2(HTTP2Failure(error)))
            }
            start += consumed
            headOctets += consumed
            if pendingHead != nil { tellPendingHead(before: event) }
            if case .needMore = event { return }
            handle(event, of: rest)
            headOctets = 0
        }
    }

    private func handle(_ event: HTTP2Event, of bytes: Span<UInt8>) {
        switch event {
        case .needMore, .settingsAcknowledged, .settings, .windowOpened, .goAway, .pong:
            handleConnection(event)
        case .interim(let id, let head):
            guard let stream = answered(id) else { return }
            stream.metrics.responseHeadBytes += headOctets
            if stream.holdsHeads {
                stream.heldInterim.append(head)
            } else {
                stream.exchange.sink.receivedInterim(head)
            }
            if head.status.code == 100 { release(stream) }
        case .response(let id, let head):
            guard let stream = answered(id) else { return }
            stream.metrics.responseHeadBytes += headOctets
            pendingHead = (stream, head)
        case .content(let id, let range):
            guard let stream = answered(id) else { return machine.consumed(range.count, on: id) }
            receivedContent(bytes.extracting(range), of: stream)
        case .end(let id, let trailers):
            guard let stream = streams[id] else { return }
            if stream.machine.state == .leaving || stream.takesContent && stream.held.isEmpty {
                responseEnded(stream, trailers)
            } else {
                stream.heldEnd = .whole(trailers: trailers)
            }
        case .reset(let id, let code): wasReset(id, code)
        case .failed(let id, let error):
            if let stream = streams[id] { breaks(stream, reason(of: error)) }
        case .refused(let id):
            if let stream = streams[id] { sendAgain(stream, http2(.refused)) }
        case .request, .priority: break  // for servers
        }
    }

    /// A message that is over a limit fails as over HTTP/1.1, whose limits they are.
    private func reason(of error: HTTP2StreamError) -> TransportError {
        guard case .headerList(.limitExceeded(let limit, let allowed)) = error else {
            return http2(HTTP2Failure(error))
        }
        let own: ParserLimits.Limit =
            switch limit {
            case .listOctets: .headBytes
            case .fieldCount: .fieldCount
            case .stringOctets: .lineBytes
            }
        return .http(host: route.host, port: route.port, .limitExceeded(own, allowed: allowed))
    }

    private func handleConnection(_ event: HTTP2Event) {
        switch event {
        case .settings(let settings):
            tellSettings()
            capacityChanged(settings.maxConcurrentStreams)
            peerHasSet()
            enqueueAll()
        case .settingsAcknowledged: settingsAcknowledged()
        case .windowOpened(let id):
            tellWindow(of: id)
            if id.isConnection { enqueueAll() } else if let stream = streams[id] { enqueue(stream) }
        case .goAway(let last, let code, _):
            farewell = code
            tellGoAway(last: last, code)
            let sendsAway = streams.ordered.contains { $0.id > last }
            pool.drains(id, carried: sendsAway ? Int(last.rawValue / 2 + last.rawValue % 2) : nil)
        case .needMore, .pong, .interim, .response, .content, .end, .reset, .failed, .refused, .request,
            .priority:
            break
        }
    }

    /// The stream that something of a response has come on.
    private func answered(_ id: StreamID) -> HTTP2Stream? {
        guard let stream = streams[id] else { return nil }
        wasAnswered = true
        if stream.metrics.responseStart == nil { stream.metrics.responseStart = loop.now }
        note(.received, of: stream)
        return stream
    }

    private func wasReset(_ id: StreamID, _ code: HTTP2ErrorCode) {
        guard let stream = streams[id] else { return }
        stream.exchange.observation?.heard(.reset(code))
        if stream.heldEnd != nil {
            // The answer is here, and the peer does not want the rest of the request.
            return stopSending(stream)
        }
        if code == .refusedStream, stream.metrics.responseStart == nil {
            return sendAgain(stream, http2(.refused))
        }
        breaks(stream, http2(.reset(code)))
    }

    /// The stream is gone. Its consumer hears so behind what it has not taken yet.
    private func breaks(_ stream: HTTP2Stream, _ error: TransportError) {
        guard stream.holdsResponse else {
            return perform(stream.machine.handle(.broken), on: stream, .failure(error))
        }
        stream.heldEnd = .broken(error)
        stopSending(stream)
    }

    /// Nothing more of the request is wanted.
    private func stopSending(_ stream: HTTP2Stream) {
        stream.isAnswered = true
        note(.sourceDry, of: stream)
    }

    // MARK: the head

    /// A head waits for the event behind it, which says whether the stream ends with the head.
    private func tellPendingHead(before next: HTTP2Event?) {
        guard let (stream, head) = pendingHead.take(), isCarrying(stream) else { return }
        var endsStream = false
        if case .end(stream.id, _) = next { endsStream = true }
        let framing = framing(of: head, on: stream, endsStream: endsStream)
        if stream.holdsHeads {
            if let timer = stream.continueTimer.take() { loop.cancel(timer) }
            stream.heldHead = (head, framing)
        } else {
            receivedHead(head, framing, of: stream)
        }
    }

    /// Tells of the heads that came while the exchange stood still.
    func tellHeldHeads(of stream: HTTP2Stream) {
        var interim: [ResponseHead] = []
        swap(&interim, &stream.heldInterim)
        for head in interim where isCarrying(stream) { stream.exchange.sink.receivedInterim(head) }
        guard isCarrying(stream), let (head, framing) = stream.heldHead.take() else { return }
        receivedHead(head, framing, of: stream)
    }

    /// The framing that the same response would have in HTTP/1.1.
    private func framing(of head: ResponseHead, on stream: HTTP2Stream, endsStream: Bool) -> BodyFraming {
        let code = head.status.code
        if stream.exchange.options.isWebSocket, head.status.kind == .successful { return .handover }
        if endsStream || stream.exchange.head.method == .head || code == 204 || code == 304 { return .none }
        guard let length = MessageDecoder.contentLength(head.fields) else { return .chunked }
        return length == 0 ? .none : .length(length)
    }

    private func receivedHead(_ head: ResponseHead, _ framing: BodyFraming, of stream: HTTP2Stream) {
        let exchange = stream.exchange
        if head.status.code == 421, sendsToItsOwn(stream) { return }
        stream.metrics.version = head.version
        if case .length(let length) = framing { stream.expectedLength = length }
        exchange.observation?.received(head, stream.metrics, at: loop.now)
        if let timer = stream.continueTimer.take() { loop.cancel(timer) }
        _ = stream.machine.handle(.headReceived)
        touch(stream)
        if case .exchanging(.sending, _) = stream.machine.state, exchange.options.stopsSendingWhenAnswered,
            framing != .handover
        {
            stream.isAnswered = true
            note(.sourceDry, of: stream)
        }
        let plan = exchange.sink.receivedHead(head, framing: framing)
        guard isCarrying(stream) else { return }
        if framing == .handover { return beginTunnel(on: stream) }
        switch plan {
        case .deliver: break
        case .pause: pause(stream)
        case .skip: enough(stream)
        case .splice(let target): stream.splice = SpliceTransfer(target, usesPipe: false)
        }
    }

    // MARK: content

    private func receivedContent(_ bytes: Span<UInt8>, of stream: HTTP2Stream) {
        stream.metrics.responseContentBytes += Int64(bytes.count)
        if stream.machine.state == .leaving { return machine.consumed(bytes.count, on: stream.id) }
        touch(stream)
        var taken = 0
        if stream.takesContent, stream.held.isEmpty {
            taken = passOn(bytes, of: stream)
            guard isWanted(stream) else { return machine.consumed(bytes.count - taken, on: stream.id) }
        }
        stream.held.append(bytes.extracting(droppingFirst: taken))
    }

    /// Whether more of its content is wanted, now or later.
    private func isWanted(_ stream: HTTP2Stream) -> Bool {
        isCarrying(stream) && stream.machine.state != .leaving
    }

    /// Passes on as much as the rate and the consumer take now. How much that is: the rest is to be held, unless the stream
    /// has ended.
    private func passOn(_ bytes: Span<UInt8>, of stream: HTTP2Stream) -> Int {
        let count = allowance(bytes.count, of: stream)
        guard count > 0 else { return 0 }
        let demand: Demand
        do throws(TransportError) {
            demand = try give(bytes.extracting(first: count), to: stream)
        } catch {
            machine.consumed(count, on: stream.id)
            fail(stream, error)
            return count
        }
        guard isCarrying(stream) else {
            machine.consumed(count, on: stream.id)
            return count
        }
        if case .pause = demand { stream.owed += count } else { giveBack(count, of: stream) }
        obey(demand, of: stream)
        return count
    }

    /// How much of `count` octets the rate lets through now; a timer sees to the rest.
    private func allowance(_ count: Int, of stream: HTTP2Stream) -> Int {
        guard var rate = stream.receiveRate else { return count }
        let allowed = min(count, rate.allowance(at: loop.now))
        rate.spend(allowed, at: loop.now)
        if allowed < count, stream.receivePaceTimer == nil {
            let ready = rate.ready(for: min(count - allowed, rate.burst), at: loop.now)
            stream.receivePaceTimer = schedule(.receivePace, of: stream, at: ready)
        }
        stream.receiveRate = rate
        return allowed
    }

    private func give(_ bytes: Span<UInt8>, to stream: HTTP2Stream) throws(TransportError) -> Demand {
        guard let splice = stream.splice else {
            return stream.tunnel?.received(bytes) ?? stream.exchange.sink.receivedContent(bytes)
        }
        guard let written = try splice.take(bytes, isLast: false) else { return .more }
        return stream.exchange.sink.spliced(written)
    }

    private func obey(_ demand: Demand, of stream: HTTP2Stream) {
        switch demand {
        case .more: break
        case .pause: pause(stream)
        case .enough: enough(stream)
        }
    }

    private func pause(_ stream: HTTP2Stream) {
        guard case .exchanging(_, .receiving) = stream.machine.state else { return }
        _ = stream.machine.handle(.pause)
        note(.readingPaused, of: stream)
    }

    /// The consumer wants no more. What is at hand of the rest is looked at before the stream is reset: most short ones are
    /// whole by then.
    func enough(_ stream: HTTP2Stream) {
        guard case .exchanging(_, .receiving) = stream.machine.state else { return }
        _ = stream.machine.handle(.enough)
        drop(stream)
        stream.splice = nil
        if stream.heldEnd != nil { return responseEnded(stream, Fields()) }
        leavers.append(stream)
        writeSoon()
    }

    /// Passes on what was held, as far as the consumer takes it.
    func passOnHeld(of stream: HTTP2Stream) {
        guard stream.takesContent, stream.receivePaceTimer == nil else { return }
        // Also where nothing is held: the sink may have gathered something before it paused.
        touch(stream)
        if !stream.held.isEmpty {
            // The peer is not the one that is slow.
            note(.received, of: stream)
            var held = HeldContent()
            swap(&held, &stream.held)
            let taken = passOn(held.octets.span.extracting(droppingFirst: held.start), of: stream)
            if isWanted(stream) {
                held.dropFirst(taken)
                stream.held = held
            } else {
                machine.consumed(held.count - taken, on: stream.id)
            }
        }
        if isCarrying(stream), stream.takesContent, stream.held.isEmpty, let end = stream.heldEnd.take() {
            switch end {
            case .whole(let trailers): responseEnded(stream, trailers)
            case .broken(let error):
                perform(stream.machine.handle(.broken), on: stream, .failure(truncated(stream, error)))
            }
        }
        // Inside of reading, whoever reads says so.
        if !isReading { caughtUp() }
        writeSoon()
    }

    /// Everything has been passed on.
    private func responseEnded(_ stream: HTTP2Stream, _ trailers: Fields) {
        do throws(TransportError) { try writeGathered(of: stream) } catch { return fail(stream, error) }
        guard isCarrying(stream) else { return }
        if let tunnel = stream.tunnel { return tunnelEnded(stream, tunnel) }
        switch stream.machine.state {
        case .exchanging(_, .receiving), .leaving:
            perform(stream.machine.handle(.responseEnded), on: stream, .success(trailers))
        case .exchanging(_, .paused): stream.heldEnd = .whole(trailers: trailers)
        case .exchanging(_, .awaitingHead), .over: break
        }
    }

    private func writeGathered(of stream: HTTP2Stream) throws(TransportError) {
        guard let splice = stream.splice, let written = try splice.writeGathered() else { return }
        obey(stream.exchange.sink.spliced(written), of: stream)
    }

    /// What was gathered for a file is written also where nothing more will come.
    func keepGathered(of stream: HTTP2Stream) {
        guard let splice = stream.splice else { return }
        stream.splice = nil
        // The stream has failed already, with an error that says more.
        guard let written = try? splice.writeGathered() else { return }
        _ = stream.exchange.sink.spliced(written)
    }

    private func touch(_ stream: HTTP2Stream) {
        guard !stream.isTouched else { return }
        stream.isTouched = true
        touched.append(stream)
    }

    /// Nothing more is at hand: sinks may pass on what they have gathered.
    func caughtUp() {
        while let stream = touched.popLast() {
            stream.isTouched = false
            guard isCarrying(stream), stream.takesContent, stream.tunnel == nil else { continue }
            do throws(TransportError) { try writeGathered(of: stream) } catch {
                fail(stream, error)
                continue
            }
            guard isCarrying(stream), stream.takesContent else { continue }
            obey(stream.exchange.sink.caughtUp(), of: stream)
        }
    }
}
