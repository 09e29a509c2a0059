// SPDX-License-Identifier: MIT

import LupineHTTP

/// Receiving: passes bytes from the channel through the reader to the exchange's sink, as fast as the sink accepts them.
extension HTTP1Connection {
    /// Reads and handles as much as is available and the consumer accepts.
    func read() {
        guard mayRead, wantsToRead else { return }
        var buffer = loop.borrowReadBuffer()
        defer { loop.giveBack(readBuffer: buffer) }
        var readCount = 0
        while mayRead, wantsToRead {
            readCount += 1
            // A peer that sends without a pause would otherwise keep the loop in this turn; `isLate` is true after 5 ms.
            let mustYield = readCount > Self.operationsPerTurn || readCount > 1 && loop.isLate
            if mustYield {
                yieldReading()
                return reportInputExhausted()
            }
            switch current?.reader.splice {
            // The kernel moves the content through a pipe into the file.
            case let splice? where splice.usesPipe:
                guard moveContent(with: splice) else { return }
            // Content for the file passes through memory; a larger buffer needs fewer calls.
            case .some:
                var fileBuffer = loop.borrowFileBuffer()
                defer { loop.giveBack(fileBuffer: fileBuffer) }
                guard readOnce(into: &fileBuffer) else { return }
                // Counts as many reads as the smaller buffer would need for the same content.
                readCount += EventLoop.fileBufferSize / EventLoop.readBufferSize - 1
            case nil:
                guard readOnce(into: &buffer) else { return }
            }
        }
    }

    /// Reads what fits into `buffer` and handles it. Returns false when the caller must stop reading.
    private func readOnce(into buffer: inout [UInt8]) -> Bool {
        guard let limit = readAllowance(buffer.count) else {
            reportInputExhausted()
            return false
        }
        let outcome: ReadOutcome
        let mayHoldMore: Bool
        do throws(ChannelFailure) {
            var whole = buffer.mutableSpan
            var space = whole._mutatingExtracting(first: limit)
            (outcome, mayHoldMore) = try channel.receiveAvailable(into: &space)
        } catch {
            mayRead = false
            failReading(error)
            return false
        }
        switch outcome {
        case .wouldBlock:
            mayRead = false
            reportInputExhausted()
        case .end:
            mayRead = false
            peerClosed()
            return false
        case .bytes(let count):
            // A read that does not fill the buffer has emptied a plain socket. While the peer is closing, `mayRead` stays true:
            // the next read gets the end of the stream.
            if !peerIsClosing, !mayHoldMore { mayRead = false }
            recordReceived(count)
            handleInput(buffer.span.extracting(first: count))
        }
        return true
    }

    /// Whether more bytes may be read: all bytes read before have been handled, and the consumer accepts more.
    var wantsToRead: Bool {
        switch machine.state {
        case .exchanging(_, .paused), .closed: false
        case .exchanging: hasHandledAll && !isSuspended
        case .idle, .skipping, .draining: hasHandledAll
        case .upgraded: upgrade?.acceptsBytes ?? false
        }
    }

    /// Whether all bytes that were read have been handled.
    private var hasHandledAll: Bool { current?.reader.hasHandledAll ?? true }

    /// Whether the reader may be asked for more events of a response.
    var mayDecode: Bool {
        switch machine.state {
        case .exchanging(_, .receiving), .skipping, .draining: true
        case .exchanging(_, .awaitingHead), .exchanging(_, .paused), .idle, .upgraded, .closed: false
        }
    }

    /// Whether the next event of the bytes already read may be handled: neither paused nor suspended.
    private var mayHandleNext: Bool {
        if isSuspended { return false }
        if case .exchanging(_, .paused) = machine.state { return false }
        return true
    }

    /// Schedules a loop job that continues to read, so that the loop's other connections run first.
    func yieldReading() {
        guard !isReadDue else { return }
        isReadDue = true
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop {
            bound.value.isReadDue = false
            bound.value.read()
        }
    }

    /// Returns how many bytes the rate limit allows to read now, at most `capacity`. If the limit allows none, sets a timer and
    /// returns nil.
    private func readAllowance(_ capacity: Int) -> Int? {
        guard let current, current.reader.isLimited else { return capacity }
        switch current.reader.allowance(capacity, at: loop.now) {
        case .bytes(let count): return count
        case .wait(let instant):
            pace(until: instant)
            return nil
        }
    }

    /// Records received bytes in the rate limit, the metrics and the deadlines of the exchange.
    private func recordReceived(_ count: Int) {
        guard let current, current.exchange != nil else { return }
        if current.reader.isLimited { current.reader.spend(count, at: loop.now) }
        if current.metrics.responseStart == nil { current.metrics.responseStart = loop.now }
        current.deadlines.handle(.received, at: loop.now)
    }

    /// Passes received bytes to the reader and handles its events, until it needs more input or the consumer pauses.
    func handleInput(_ bytes: Span<UInt8>) {
        if machine.state == .upgraded { return handleUpgraded(bytes) }
        var start = 0
        while true {
            let event: ResponseEvent
            let consumed: Int
            let remaining = bytes.extracting(droppingFirst: start)
            do throws(HTTPError) {
                guard let result = try current?.nextEvent(remaining) else { return refuseInput(remaining) }
                (event, consumed) = result
            } catch {
                // The content before the error is stored first; if that fails, the exchange has ended with the write error.
                finishSplice()
                if machine.state != .closed {
                    connectionLost(.http(host: route.host, port: route.port, error))
                }
                return
            }
            start += consumed
            switch event {
            case .needMore:
                guard writeGathered() else { return }
                armDeadline()
                // If more may be readable, the loop in `read` calls `reportInputExhausted`.
                if !mayRead { reportInputExhausted() }
                return
            case .interim(let head):
                current?.deadlines.handle(.interim, at: loop.now)
                current?.exchange?.sink.receivedInterim(head)
                if head.status.code == 100 { releaseContent() }
            case .head(let head, let framing, let keepsAlive):
                guard receivedHead(head, framing, keepsAlive) else { return }
            case .content(let range):
                let isLast = range.upperBound == remaining.count
                guard receivedContent(remaining.extracting(range), isLast: isLast) else {
                    return storeUnhandledInput(bytes.extracting(droppingFirst: start))
                }
            case .end(let trailers):
                finishSplice()
                // `finishSplice` closes the connection if it cannot write the file. The exchange has then ended.
                if machine.state == .closed { return }
                return responseEnded(trailers, leftOver: bytes.count - start)
            case .handover:
                return beginUpgrade(bytes.extracting(droppingFirst: start))
            }
            if machine.state == .closed { return }
            if !mayHandleNext {
                return storeUnhandledInput(bytes.extracting(droppingFirst: start))
            }
        }
    }

    /// Tells the sink that no more input is available for now, so that it may deliver what it has buffered.
    private func reportInputExhausted() {
        guard case .exchanging(_, .receiving) = machine.state, !isSuspended else { return }
        switch current?.exchange?.sink.inputExhausted() {
        case .more, nil: break
        case .pause: pause()
        // The result is not needed: no bytes of this read wait to be handled.
        case .enough: _ = endDelivery()
        }
    }

    /// Stores bytes that were read and cannot be handled now; `continueReading` handles them later.
    private func storeUnhandledInput(_ bytes: Span<UInt8>) {
        guard machine.state != .closed, !bytes.isEmpty, let current else { return }
        var stored = current.reader.takeStored()
        stored.append(bytes, bytes.indices)
        current.reader.store(&stored)
    }

    /// Closes an idle connection on which bytes have arrived: they belong to no exchange.
    private func refuseInput(_ bytes: Span<UInt8>) {
        guard machine.state != .closed, !bytes.isEmpty else { return }
        connectionLost(.http(host: route.host, port: route.port, .unexpectedBytes(octet: bytes[0])))
    }

    /// Delivers the final head to the sink and follows the sink's plan for the content. Returns false if the connection has
    /// closed, so that the remaining bytes are dropped.
    private func receivedHead(_ head: ResponseHead, _ framing: BodyFraming, _ keepsAlive: Bool) -> Bool {
        guard let current, let exchange = current.exchange else { return false }
        let hint = keepsAlive ? head.fields.withFirstValue(of: .keepAlive) { KeepAlive(fieldValue: $0) } : nil
        current.reader.recordHead(framing, keepsAlive: keepsAlive, hint ?? KeepAlive())
        current.metrics.version = head.version
        current.metrics.responseHeadBytes = current.reader.headOctets
        exchange.observation?.reportHead(head, current.metrics, at: loop.now)
        current.cancelContinueTimer(on: loop)
        if framing == .handover {
            // The plan that the sink returns has no use: the bytes that follow the head are not content, they belong to the
            // upgrade handler.
            _ = exchange.sink.receivedHead(head, framing: framing)
            return true
        }
        _ = machine.handle(.headReceived)  // needs no action
        if case .exchanging(.sending, _) = machine.state, exchange.options.stopsSendingWhenAnswered {
            // The machine then never receives `.requestSent`, so it closes the connection at the end of the response.
            current.hasStoppedSending = true
            // Stops the write time-out, as if the source had no content.
            current.deadlines.handle(.sourceDry, at: loop.now)
        }
        switch exchange.sink.receivedHead(head, framing: framing) {
        case .deliver: break
        case .pause: pause()
        case .skip: return endDelivery()
        case .splice(let target): beginSplice(target)
        }
        return true
    }

    /// Delivers content to the sink or the splice (the transfer into a file), or counts content that is discarded. Returns false
    /// when no more content is accepted now.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - isLast: Whether no more input is available after it.
    private func receivedContent(_ bytes: Span<UInt8>, isLast: Bool) -> Bool {
        current?.metrics.responseContentBytes += Int64(bytes.count)
        current?.reader.recordContent(bytes.count)
        if isDraining {
            if current?.reader.discard(bytes.count) ?? false { return true }
            perform(machine.handle(.drainLimitExceeded), .success(Fields()))
            return false
        }
        guard let exchange = current?.exchange else { return false }
        guard let splice = current?.reader.splice else {
            return apply(exchange.sink.receivedContent(bytes), of: exchange)
        }
        do throws(TransportError) {
            guard let written = try splice.gatherOrWrite(bytes, isLast: isLast) else { return true }
            return apply(exchange.sink.spliced(written), of: exchange)
        } catch {
            fail(error)
            return false
        }
    }

    /// Writes gathered content to the file of a splice. Returns false when the consumer accepts no more now, or when writing
    /// failed.
    private func writeGathered() -> Bool {
        guard let splice = current?.reader.splice, let exchange = current?.exchange else { return true }
        do throws(TransportError) {
            guard let written = try splice.writeGathered() else { return true }
            return apply(exchange.sink.spliced(written), of: exchange)
        } catch {
            fail(error)
            return false
        }
    }

    /// Writes gathered content to the file at the end of the response. The sink's demand is ignored, because no more content
    /// follows.
    private func finishSplice() {
        guard let splice = current?.reader.splice, let exchange = current?.exchange else { return }
        do throws(TransportError) {
            if let written = try splice.writeGathered() { _ = exchange.sink.spliced(written) }
        } catch { fail(error) }
    }

    /// Follows the demand of the sink. Returns false when no more of the bytes already read may be handled now.
    private func apply(_ demand: Demand, of exchange: Exchange) -> Bool {
        switch demand {
        case .more: return machine.state != .closed
        case .pause:
            // The sink may have cancelled the exchange.
            guard current?.exchange === exchange else { return false }
            pause()
            return false
        case .enough: return endDelivery()
        }
    }

    /// Stops reading until the sink resumes the exchange.
    func pause() {
        guard case .exchanging(_, .receiving) = machine.state else { return }
        _ = machine.handle(.pause)  // needs no action
        current?.deadlines.handle(.readingPaused, at: loop.now)
    }

    /// Ends the delivery to a consumer that needs no more of the response. A short remainder is read and discarded; otherwise the
    /// connection closes. Returns whether the remainder is read. In that case the exchange ends only after the bytes already read
    /// have been handled: often the response is complete by then, and the next request can reuse the connection.
    func endDelivery() -> Bool {
        guard case .exchanging(_, .receiving) = machine.state else { return false }
        let isWorthReading = current?.reader.skipRemainder() ?? false
        perform(machine.handle(.enough(remainder: isWorthReading ? .short : .long)), .success(Fields()))
        guard isDraining else { return false }
        current?.reader.splice = nil
        // When the timer fires, `drainTimeEnded` ends the exchange, and waits for the remainder for another `drainTimeout`.
        let exchangeEnd = loop.now + Self.exchangeEndDelay
        current?.drainTimer = loop.schedule(at: exchangeEnd, self, tag: TimerTag.drain.rawValue)
        return true
    }

    /// Called when the reader has found the end of the response; `leftOver` bytes were read after it.
    private func responseEnded(_ trailers: Fields, leftOver: Int) {
        // Bytes after a response belong to no request. A peer that sends them gets no further request on this connection.
        // A connection on which the exchange's own client certificate was presented carries no other exchange (U-11.20).
        let mayServeOthers = route.tls?.isBoundToExchange != true
        // `allowsAnother` is false if the request is incomplete, or if one side has announced the end of the connection.
        let reusable = leftOver == 0 && !peerIsClosing && mayServeOthers && (current?.allowsAnother ?? false)
        perform(machine.handle(.responseEnded(reusable: reusable)), .success(trailers))
    }

    /// Handles a read failure. An attacker who cuts a response short causes an end of stream without TLS's close_notify. After
    /// such an end, a response whose content is delimited by the end of the connection is not complete.
    func failReading(_ failure: ChannelFailure) {
        let error = failure.transportError(host: route.host, port: route.port)
        if failure == .tls(.truncated) { peerClosed(truncated: error) } else { connectionLost(error) }
    }

    /// Handles the peer's end of stream. `truncated` is the error of an end without close_notify; nil for an orderly end.
    func peerClosed(truncated: TransportError? = nil) {
        peerIsClosing = true
        if machine.state == .upgraded { return upgradedPeerClosed(writeFailure ?? truncated) }
        do throws(HTTPError) {
            // An idle connection has no reader, and expects no response.
            if case .end(let trailers) = try current?.peerClosed() {
                if let truncated { return connectionLost(truncated) }
                perform(machine.handle(.responseEnded(reusable: false)), .success(trailers))
                return
            }
        } catch {
            // If no byte of a response has arrived, an earlier write failure explains more than the end of stream.
            if current?.metrics.responseStart == nil, let writeFailure { return connectionLost(writeFailure) }
            return connectionLost(.http(host: route.host, port: route.port, error))
        }
        // No response was expected: the connection was idle, or its response had ended.
        connectionLost(.http(host: route.host, port: route.port, .truncated(.beforeHead)))
    }

    // MARK: splicing

    /// Writes all content that follows into a file: through a pipe in the kernel if the framing, the channel and the rate limit
    /// allow it, and through memory otherwise.
    func beginSplice(_ target: FileTarget) {
        guard let current else { return }
        let usesPipe: Bool =
            switch current.reader.framing {
            case .length, .untilClose: channel.isTransparent && !current.reader.isLimited
            case .none, .chunked, .handover: false
            }
        current.reader.splice = SpliceTransfer(target, usesPipe: usesPipe)
    }

    /// Moves content from the socket to the file without reading it into memory. Returns false when the caller must stop reading.
    /// Returns true also if no pipe could be created: the caller then reads into memory.
    private func moveContent(with splice: SpliceTransfer) -> Bool {
        guard let exchange = current?.exchange else { return false }
        let limit = current?.reader.contentRemaining ?? Int64(Int.max)
        let outcome: SpliceTransfer.MoveResult
        do throws(TransportError) {
            outcome = try splice.move(from: channel, limit: limit, host: route.host, port: route.port)
        } catch {
            fail(error)
            return false
        }
        switch outcome {
        case .moved(let count):
            current?.metrics.responseContentBytes += Int64(count)
            recordReceived(count)
            current?.recordMoved(count)
            let isComplete = current?.reader.contentRemaining == 0
            if isComplete { current?.reader.splice = nil }
            switch exchange.sink.spliced(count) {
            case .more: break
            // The sink may have cancelled the exchange.
            case .pause: if current?.exchange === exchange { pause() }
            case .enough: _ = endDelivery()
            }
            // Lets the reader report the end of the response. If the exchange is paused or suspended, `continueReading` does that
            // later.
            if isComplete, mayDecode, !isSuspended { handleInput([UInt8]().span) }
            return machine.state != .closed
        case .withoutPipe: return true
        case .wouldBlock:
            mayRead = false
            armDeadline()
            return false
        case .end:
            mayRead = false
            current?.reader.splice = nil
            peerClosed()
            return false
        }
    }
}
