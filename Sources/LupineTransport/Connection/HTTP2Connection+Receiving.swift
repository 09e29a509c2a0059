// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// Receiving: passes bytes from the channel through the machine to the sinks of the exchanges, to each as fast as it accepts
/// them.
extension HTTP2Connection {
    /// Reads and handles everything that is available.
    func read() {
        guard mayRead, life == .open, !isReading else { return }
        isReading = true
        var buffer = loop.borrowReadBuffer()
        var readCount = 0
        while mayRead, life == .open {
            readCount += 1
            // A peer that sends without a pause would otherwise keep the loop in this turn; `isLate` is true after 5 ms.
            let mustYield = readCount > Self.operationsPerTurn || readCount > 1 && loop.isLate
            if mustYield {
                yieldReading()
                break
            }
            readOnce(into: &buffer)
        }
        loop.giveBack(readBuffer: buffer)
        isReading = false
        reportInputExhausted()
        // Everything that the peer sent before the write failure has been read.
        if let writeFailure, !mayRead, life == .open { return end(writeFailure) }
        if life == .open { writeSoon() }
    }

    /// Reads once from the channel and handles the bytes.
    private func readOnce(into buffer: inout [UInt8]) {
        let outcome: ReadOutcome
        let capacity = buffer.count
        do throws(ChannelFailure) {
            var space = buffer.mutableSpan
            outcome = try channel.receive(into: &space)
        } catch {
            mayRead = false
            return end(goAwayError ?? error.transportError(host: route.host, port: route.port))
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
            // A read that does not fill the buffer has emptied a plain socket. While the peer is closing, `mayRead` stays true:
            // the next read gets the end of the stream.
            if !peerIsClosing, !channel.mayHoldMore(after: count, of: capacity) { mayRead = false }
            handleInput(buffer.span.extracting(first: count))
        }
    }

    /// Ends the connection when the peer asks for TLS renegotiation, which HTTP/2 forbids (RFC 9113 §9.2.1).
    private func endIfRenegotiating() {
        guard life == .open, channel.hasRefusedRenegotiation else { return }
        mayRead = false
        machine.fail(.renegotiation)
        end(.tls(host: route.host, port: route.port, .renegotiation))
    }

    /// Schedules a loop job that continues to read, so that the loop's other connections run first.
    private func yieldReading() {
        guard !isReadDue else { return }
        isReadDue = true
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop {
            bound.value.isReadDue = false
            bound.value.read()
        }
    }

    /// Called at the end of the peer's stream; nothing more will arrive.
    private func peerClosed() {
        // `truncationError` makes the error `.truncated` more exact for streams whose response has begun.
        end(
            goAwayError ?? writeFailure
                ?? .http(host: route.host, port: route.port, .truncated(.beforeHead)))
    }

    /// The error with the code of the peer's GOAWAY; nil for NO_ERROR. The code explains why the peer then closes the connection.
    private var goAwayError: TransportError? {
        guard let goAwayCode, goAwayCode != .noError else { return nil }
        return http2Error(.goAway(goAwayCode))
    }

    // MARK: events

    /// Passes received bytes to the machine and handles its events, until it needs more input.
    func handleInput(_ bytes: Span<UInt8>) {
        var start = 0
        while life == .open {
            let remaining = bytes.extracting(droppingFirst: start)
            let event: HTTP2Event
            let consumed: Int
            do throws(HTTP2ConnectionError) {
                (event, consumed) = try machine.next(remaining, at: machineTime)
            } catch {
                // Nil, because no event follows the head.
                deliverPendingHead(before: nil)
                return end(http2Error(HTTP2Failure(error)))
            }
            start += consumed
            eventOctets += consumed
            if pendingHead != nil { deliverPendingHead(before: event) }
            if case .needMore = event { return }
            handle(event, of: remaining)
            eventOctets = 0
        }
    }

    /// Handles an event of the machine. The ranges in the event refer to `bytes`.
    private func handle(_ event: HTTP2Event, of bytes: Span<UInt8>) {
        switch event {
        case .needMore, .settingsAcknowledged, .settings, .windowOpened, .goAway, .pong:
            handleConnectionEvent(event)
        case .interim(let id, let head):
            guard let stream = recordReceipt(on: id) else { return }
            stream.metrics.responseHeadBytes += eventOctets
            updateDeadlines(.interim, of: stream)
            if stream.holdsHeads {
                stream.heldInterimHeads.append(head)
            } else {
                stream.exchange.sink.receivedInterim(head)
            }
            if head.status.code == 100 { releaseContent(of: stream) }
        case .response(let id, let head):
            guard let stream = recordReceipt(on: id) else { return }
            stream.metrics.responseHeadBytes += eventOctets
            pendingHead = (stream, head)
        case .content(let id, let range):
            // The octets of a stream that has ended are dropped, and returned to the connection's window.
            guard let stream = recordReceipt(on: id) else { return machine.consumed(range.count, on: id) }
            receivedContent(bytes.extracting(range), of: stream)
        case .end(let id, let trailers):
            guard let stream = streams[id] else { return }
            let mayReportEnd = stream.acceptsContent && stream.heldContent.isEmpty
            if stream.machine.state == .skipping || mayReportEnd {
                responseEnded(stream, trailers)
            } else {
                stream.heldEnd = .complete(trailers: trailers)
            }
        case .reset(let id, let code): streamWasReset(id, code)
        case .failed(let id, let error):
            if let stream = streams[id] { streamBroke(stream, transportError(of: error)) }
        case .refused(let id):
            if let stream = streams[id] { sendAgain(stream, http2Error(.refused)) }
        case .request, .priority: break  // only a server gets these
        }
    }

    /// Returns the error for a broken stream. A head that exceeds a limit of `ParserLimits` fails with the same error as over
    /// HTTP/1.1.
    private func transportError(of error: HTTP2StreamError) -> TransportError {
        guard case .headerList(.limitExceeded(let limit, let allowed)) = error else {
            return http2Error(HTTP2Failure(error))
        }
        let parserLimit: ParserLimits.Limit =
            switch limit {
            case .listOctets: .headBytes
            case .fieldCount: .fieldCount
            case .stringOctets: .lineBytes
            }
        return .http(host: route.host, port: route.port, .limitExceeded(parserLimit, allowed: allowed))
    }

    /// Handles an event of the connection or of a stream's window.
    private func handleConnectionEvent(_ event: HTTP2Event) {
        switch event {
        case .settings(let settings):
            notifySettings()
            capacityChanged(settings.maxConcurrentStreams)
            peerSettingsArrived()
            // The settings may have enlarged the windows of all streams.
            enqueueAll()
        case .settingsAcknowledged: settingsAcknowledged()
        case .windowOpened(let id):
            notifyWindow(of: id)
            // The connection's window limits all streams.
            if id.isConnection { enqueueAll() } else if let stream = streams[id] { enqueue(stream) }
        case .goAway(let last, let code, _):
            goAwayCode = code
            notifyGoAway(last: last, code)
            // The peer will not process the streams with an identifier above `last`. Clients use odd identifiers (RFC 9113
            // §5.1.1), so half of `last`, rounded up, is the number of streams up to that identifier.
            let rejectsStreams = streams.ordered.contains { $0.id > last }
            let processedCount = Int(last.rawValue / 2 + last.rawValue % 2)
            pool.retireConnection(id, carried: rejectsStreams ? processedCount : nil)
        case .needMore, .pong, .interim, .response, .content, .end, .reset, .failed, .refused, .request,
            .priority:
            break
        }
    }

    /// Records that a head or content of a response arrived on a stream. Returns the stream; nil if it has ended.
    private func recordReceipt(on id: StreamID) -> HTTP2Stream? {
        guard let stream = streams[id] else { return nil }
        wasAnswered = true
        if stream.metrics.responseStart == nil { stream.metrics.responseStart = loop.now }
        updateDeadlines(.received, of: stream)
        return stream
    }

    /// Called when the peer has sent RST_STREAM.
    private func streamWasReset(_ id: StreamID, _ code: HTTP2ErrorCode) {
        guard let stream = streams[id] else { return }
        stream.exchange.observation?.reportNotice(.reset(code))
        if stream.heldEnd != nil {
            // The response is complete, and the peer does not want the rest of the request.
            return stopSending(stream)
        }
        if code == .refusedStream, stream.metrics.responseStart == nil {
            return sendAgain(stream, http2Error(.refused))
        }
        streamBroke(stream, http2Error(.reset(code)))
    }

    /// Ends a stream because of an error. The consumer first receives the content that arrived before the error.
    private func streamBroke(_ stream: HTTP2Stream, _ error: TransportError) {
        guard stream.holdsResponse else {
            return perform(stream.machine.handle(.broken), on: stream, .failure(error))
        }
        stream.heldEnd = .broken(error)
        stopSending(stream)
    }

    /// Stops sending the request's content. The write time-out then ends, as if the source had no content.
    private func stopSending(_ stream: HTTP2Stream) {
        stream.hasStoppedSending = true
        updateDeadlines(.sourceDry, of: stream)
    }

    // MARK: the head

    /// Delivers the head in `pendingHead`. `next` is the event after the head, which shows whether the stream ends with the head.
    /// It is nil if the connection has failed.
    private func deliverPendingHead(before next: HTTP2Event?) {
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

    /// Delivers the heads that arrived while the exchange was suspended.
    func deliverHeldHeads(of stream: HTTP2Stream) {
        var interim: [ResponseHead] = []
        swap(&interim, &stream.heldInterimHeads)
        for head in interim where isCarrying(stream) { stream.exchange.sink.receivedInterim(head) }
        guard isCarrying(stream), let (head, framing) = stream.heldHead.take() else { return }
        receivedHead(head, framing, of: stream)
    }

    /// Returns the framing that the same response would have in HTTP/1.1, which sinks expect.
    private func framing(of head: ResponseHead, on stream: HTTP2Stream, endsStream: Bool) -> BodyFraming {
        let code = head.status.code
        if stream.exchange.options.isWebSocket, head.status.kind == .successful { return .handover }
        if endsStream || stream.exchange.head.method == .head || code == 204 || code == 304 { return .none }
        guard let length = MessageDecoder.contentLength(head.fields) else { return .chunked }
        return length == 0 ? .none : .length(length)
    }

    /// Delivers the final head to the sink and follows its plan for the content.
    private func receivedHead(_ head: ResponseHead, _ framing: BodyFraming, of stream: HTTP2Stream) {
        let exchange = stream.exchange
        if head.status.code == 421 {
            // If so, the exchange is sent over another connection, and its sink does not receive this response.
            let isSentAgain = resendMisdirected(stream)
            if isSentAgain { return }
        }
        stream.metrics.version = head.version
        if case .length(let length) = framing { stream.expectedLength = length }
        exchange.observation?.reportHead(head, stream.metrics, at: loop.now)
        if let timer = stream.continueTimer.take() { loop.cancel(timer) }
        _ = stream.machine.handle(.headReceived)  // needs no action
        recordInput(of: stream)
        if case .exchanging(.sending, _) = stream.machine.state, exchange.options.stopsSendingWhenAnswered,
            framing != .handover
        {
            stopSending(stream)
        }
        let plan = exchange.sink.receivedHead(head, framing: framing)
        guard isCarrying(stream) else { return }
        // For a tunnel the plan is ignored: the octets that follow belong to the upgrade handler.
        if framing == .handover { return beginTunnel(on: stream) }
        switch plan {
        case .deliver: break
        case .pause: pause(stream)
        case .skip: endDelivery(of: stream)
        case .splice(let target): stream.splice = SpliceTransfer(target, usesPipe: false)
        }
    }

    // MARK: content

    /// Delivers content to the consumer, and stores in `heldContent` what the consumer does not accept now.
    private func receivedContent(_ bytes: Span<UInt8>, of stream: HTTP2Stream) {
        stream.metrics.responseContentBytes += Int64(bytes.count)
        // Content that the consumer does not need is dropped, and returned to the connection's window.
        if stream.machine.state == .skipping { return machine.consumed(bytes.count, on: stream.id) }
        recordInput(of: stream)
        var delivered = 0
        if stream.acceptsContent, stream.heldContent.isEmpty {
            delivered = deliver(bytes, of: stream)
            guard needsContent(of: stream) else {
                // `deliver` has returned only the delivered octets to the windows.
                return machine.consumed(bytes.count - delivered, on: stream.id)
            }
        }
        stream.heldContent.append(bytes.extracting(droppingFirst: delivered))
    }

    /// Whether the consumer may still need content of the stream.
    private func needsContent(of stream: HTTP2Stream) -> Bool {
        isCarrying(stream) && stream.machine.state != .skipping
    }

    /// Delivers as much as the rate limit and the consumer accept now. Returns the number of delivered octets. The caller must
    /// store the others, unless the stream has ended. `isLast` says whether no more octets wait behind `bytes`.
    private func deliver(_ bytes: Span<UInt8>, of stream: HTTP2Stream, isLast: Bool = true) -> Int {
        let count = receiveAllowance(bytes.count, of: stream)
        guard count > 0 else { return 0 }
        let demand: Demand
        do throws(TransportError) {
            demand = try passToConsumer(bytes.extracting(first: count), of: stream)
        } catch {
            machine.consumed(count, on: stream.id)
            fail(stream, error)
            return count
        }
        guard isCarrying(stream) else {
            machine.consumed(count, on: stream.id)
            return count
        }
        // After `.pause`, the octets count as consumed only when the consumer resumes: until then, the windows do not open.
        if case .pause = demand {
            stream.withheldCredit += count
        } else {
            recordConsumed(count, of: stream, isLast: isLast)
        }
        apply(demand, of: stream)
        return count
    }

    /// Returns how many of `count` octets the rate limit allows to deliver now. Sets a timer to deliver the others, if any.
    private func receiveAllowance(_ count: Int, of stream: HTTP2Stream) -> Int {
        guard var rate = stream.receiveRate else { return count }
        let allowed = min(count, rate.allowance(at: loop.now))
        rate.spend(allowed, at: loop.now)
        if allowed < count, stream.receivePaceTimer == nil {
            let resumeTime = rate.ready(for: min(count - allowed, rate.burst), at: loop.now)
            stream.receivePaceTimer = schedule(.receivePace, of: stream, at: resumeTime)
        }
        stream.receiveRate = rate
        return allowed
    }

    /// Passes content to the file of a splice (a transfer into a file), to the tunnel or to the sink. Returns whether the
    /// consumer accepts more. Throws if the file cannot be written.
    private func passToConsumer(
        _ bytes: Span<UInt8>, of stream: HTTP2Stream
    ) throws(TransportError) -> Demand {
        guard let splice = stream.splice else {
            return stream.tunnel?.received(bytes) ?? stream.exchange.sink.receivedContent(bytes)
        }
        // `isLast` is false, because more input may follow. Nil: the content was only gathered; `reportInputExhausted` writes it.
        guard let written = try splice.gatherOrWrite(bytes, isLast: false) else { return .more }
        return stream.exchange.sink.spliced(written)
    }

    /// Follows the demand of the stream's consumer.
    private func apply(_ demand: Demand, of stream: HTTP2Stream) {
        switch demand {
        case .more: break
        case .pause: pause(stream)
        case .enough: endDelivery(of: stream)
        }
    }

    /// Stops delivering content of the stream until the consumer resumes it.
    private func pause(_ stream: HTTP2Stream) {
        guard case .exchanging(_, .receiving) = stream.machine.state else { return }
        _ = stream.machine.handle(.pause)  // needs no action
        updateDeadlines(.readingPaused, of: stream)
    }

    /// Ends the delivery to a consumer that needs no more of the response. The stream is reset at the end of the turn, after the
    /// input that has been read: most short responses are complete by then, and need no reset.
    func endDelivery(of stream: HTTP2Stream) {
        guard case .exchanging(_, .receiving) = stream.machine.state else { return }
        _ = stream.machine.handle(.enough)  // needs no action
        discardHeldContent(of: stream)
        stream.splice = nil
        // The stream has ended, even if by an error: all that the consumer needs has arrived, and no reset is necessary.
        if stream.heldEnd != nil { return responseEnded(stream, Fields()) }
        skippedStreams.append(stream)
        writeSoon()
    }

    /// Delivers as much of the held content as the consumer accepts, and the end of the response if nothing is left.
    func deliverHeldContent(of stream: HTTP2Stream) {
        guard stream.acceptsContent, stream.receivePaceTimer == nil else { return }
        // Recorded even if no content is held: the sink may have buffered some before it paused.
        recordInput(of: stream)
        if !stream.heldContent.isEmpty {
            // Resets the read time-out: the content waited here, and the peer was not slow.
            updateDeadlines(.received, of: stream)
            var held = HeldContent()
            swap(&held, &stream.heldContent)
            // In pieces like those of a read, because the consumer can pause only between two of them.
            while !held.isEmpty, stream.acceptsContent, stream.receivePaceTimer == nil {
                let count = min(held.count, EventLoop.readBufferSize)
                let delivered = deliver(
                    held.octets.span.extracting(held.start..<held.start + count), of: stream,
                    isLast: count == held.count)
                held.dropFirst(delivered)
            }
            if needsContent(of: stream) {
                stream.heldContent = held
            } else {
                machine.consumed(held.count, on: stream.id)
            }
        }
        if isCarrying(stream), stream.acceptsContent, stream.heldContent.isEmpty,
            let end = stream.heldEnd.take()
        {
            switch end {
            case .complete(let trailers): responseEnded(stream, trailers)
            case .broken(let error):
                let exactError = truncationError(of: stream, replacing: error)
                perform(stream.machine.handle(.broken), on: stream, .failure(exactError))
            }
        }
        // During a read, `read` calls `reportInputExhausted` itself.
        if !isReading { reportInputExhausted() }
        writeSoon()
    }

    /// Called when the response has ended and all of it has been delivered.
    private func responseEnded(_ stream: HTTP2Stream, _ trailers: Fields) {
        do throws(TransportError) { try writeGathered(of: stream) } catch { return fail(stream, error) }
        guard isCarrying(stream) else { return }
        if let tunnel = stream.tunnel { return peerEndedTunnel(tunnel, on: stream) }
        switch stream.machine.state {
        case .exchanging(_, .receiving), .skipping:
            perform(stream.machine.handle(.responseEnded), on: stream, .success(trailers))
        // The sink has answered `.pause` to the content that `writeGathered` has just written.
        case .exchanging(_, .paused): stream.heldEnd = .complete(trailers: trailers)
        case .exchanging(_, .awaitingHead), .over: break
        }
    }

    /// Writes gathered content to the file of a splice.
    private func writeGathered(of stream: HTTP2Stream) throws(TransportError) {
        guard let splice = stream.splice, let written = try splice.writeGathered() else { return }
        apply(stream.exchange.sink.spliced(written), of: stream)
    }

    /// Ends the splice of a stream that has failed: writes the content gathered so far to the file.
    func finishSplice(of stream: HTTP2Stream) {
        guard let splice = stream.splice else { return }
        stream.splice = nil
        // A write error is ignored: the error with which the stream has failed already explains more.
        guard let written = try? splice.writeGathered() else { return }
        _ = stream.exchange.sink.spliced(written)
    }

    /// Adds the stream to `streamsWithInput`, so that `reportInputExhausted` calls its sink.
    private func recordInput(of stream: HTTP2Stream) {
        guard !stream.isInStreamsWithInput else { return }
        stream.isInStreamsWithInput = true
        streamsWithInput.append(stream)
    }

    /// Tells the sinks of all streams in `streamsWithInput` that no more input is available for now, so that they may deliver
    /// what they have buffered.
    func reportInputExhausted() {
        while let stream = streamsWithInput.popLast() {
            stream.isInStreamsWithInput = false
            guard isCarrying(stream), stream.acceptsContent, stream.tunnel == nil else { continue }
            do throws(TransportError) { try writeGathered(of: stream) } catch {
                fail(stream, error)
                continue
            }
            guard isCarrying(stream), stream.acceptsContent else { continue }
            apply(stream.exchange.sink.inputExhausted(), of: stream)
        }
    }
}
