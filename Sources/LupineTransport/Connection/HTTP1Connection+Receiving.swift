// SPDX-License-Identifier: MIT

import LupineHTTP

/// The way in: bytes from the channel through the codec to the sink, as fast as the sink takes them.
extension HTTP1Connection {
    /// Reads and handles as much as there is and the consumer takes.
    func read() {
        guard mayRead, wantsToRead else { return }
        var buffer = loop.borrowReadBuffer()
        defer { loop.giveBack(readBuffer: buffer) }
        var turns = 0
        while mayRead, wantsToRead {
            turns += 1
            // What a peer sends decides how long it takes.
            if turns > Self.turns || turns > 1 && loop.isLate {
                yieldReading()
                return caughtUp()
            }
            switch splice {
            case let splice? where splice.usesPipe:
                guard spliceStep(splice) else { return }
            case .some:
                var wide = loop.borrowFileBuffer()
                defer { loop.giveBack(fileBuffer: wide) }
                guard readOnce(into: &wide) else { return }
                // One such read is worth several.
                turns += EventLoop.fileBufferSize / EventLoop.readBufferSize - 1
            case nil:
                guard readOnce(into: &buffer) else { return }
            }
        }
    }

    /// Reads what there is room for, and handles it. False when the caller is to stop reading.
    private func readOnce(into buffer: inout [UInt8]) -> Bool {
        guard let room = readAllowance(buffer.count) else {
            caughtUp()
            return false
        }
        let outcome: ReadOutcome
        do throws(ChannelFailure) {
            var whole = buffer.mutableSpan
            var space = whole._mutatingExtracting(first: room)
            outcome = try channel.receive(into: &space)
        } catch {
            mayRead = false
            failReading(error)
            return false
        }
        switch outcome {
        case .wouldBlock:
            mayRead = false
            caughtUp()
        case .end:
            mayRead = false
            peerClosed()
            return false
        case .bytes(let count):
            // A closing peer's end is still to be seen.
            if !peerIsClosing, !channel.mayHoldMore(after: count, of: room) { mayRead = false }
            received(count)
            handle(buffer.span.extracting(first: count))
        }
        return true
    }

    var wantsToRead: Bool {
        switch machine.state {
        case .exchanging(_, .paused), .closed: false
        case .exchanging: unread.isEmpty && !isSuspended
        case .idle, .leaving, .draining: unread.isEmpty
        case .upgraded: upgrade?.takesBytes ?? false
        }
    }

    /// Whether the codec may be asked for more.
    var isTaking: Bool {
        switch machine.state {
        case .exchanging(_, .receiving), .leaving, .draining: true
        case .exchanging(_, .awaitingHead), .exchanging(_, .paused), .idle, .upgraded, .closed: false
        }
    }

    /// Whether the next event of bytes at hand may be looked at: nobody has asked for standing still meanwhile.
    private var isTakingOn: Bool {
        if isSuspended { return false }
        if case .exchanging(_, .paused) = machine.state { return false }
        return true
    }

    /// Lets the loop's other connections have their turn; this one goes on in the next.
    func yieldReading() {
        guard !isReadDue else { return }
        isReadDue = true
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop {
            bound.value.isReadDue = false
            bound.value.read()
        }
    }

    /// How much may be read now; nil when the rate says that it must wait.
    func readAllowance(_ capacity: Int) -> Int? {
        guard var rate = current?.receiveRate else { return capacity }
        let allowance = rate.allowance(at: loop.now)
        let ready = rate.ready(for: min(capacity, rate.burst), at: loop.now)
        current?.receiveRate = rate
        guard allowance > 0 else {
            pace(until: ready)
            return nil
        }
        return min(capacity, allowance)
    }

    func received(_ count: Int) {
        guard current != nil else { return }
        current?.receiveRate?.spend(count, at: loop.now)
        if current?.metrics.responseStart == nil { current?.metrics.responseStart = loop.now }
        current?.deadlines.handle(.received, at: loop.now)
    }

    /// Feeds the codec and passes on what it says, until it needs more or the consumer pauses.
    func handle(_ bytes: Span<UInt8>) {
        if machine.state == .upgraded { return handleUpgraded(bytes) }
        var start = 0
        while true {
            let event: WireEvent
            let consumed: Int
            let rest = bytes.extracting(droppingFirst: start)
            do throws(HTTPError) {
                (event, consumed) = try codec.next(rest)
            } catch {
                finishSplice()
                if machine.state != .closed { lose(.http(host: route.host, port: route.port, error)) }
                return
            }
            start += consumed
            switch event {
            case .needMore:
                if case .exchanging(_, .awaitingHead) = machine.state { current?.headOctets += consumed }
                guard writeGathered() else { return }
                armDeadline()
                // Where more may be at hand, whoever reads it says so.
                if !mayRead { caughtUp() }
                return
            case .interim(let head):
                current?.headOctets += consumed
                current?.exchange.sink.receivedInterim(head)
                if head.status.code == 100 { release() }
            case .head(let head, let framing, let keepAlive):
                current?.headOctets += consumed
                guard receivedHead(head, framing, keepAlive) else { return }
            case .content(let range):
                guard receivedContent(rest.extracting(range), isLast: range.upperBound == rest.count) else {
                    return keep(bytes.extracting(droppingFirst: start))
                }
            case .end(let trailers):
                finishSplice()
                if machine.state == .closed { return }
                return responseEnded(trailers, leftOver: bytes.count - start)
            case .handover:
                return beginUpgrade(bytes.extracting(droppingFirst: start))
            }
            if machine.state == .closed { return }
            if !isTakingOn {
                return keep(bytes.extracting(droppingFirst: start))
            }
        }
    }

    /// Nothing more is at hand: the sink may pass on what it has gathered.
    private func caughtUp() {
        guard case .exchanging(_, .receiving) = machine.state, !isSuspended else { return }
        switch current?.exchange.sink.caughtUp() {
        case .more, nil: break
        case .pause: pause()
        case .enough: _ = enough()
        }
    }

    func keep(_ bytes: Span<UInt8>) {
        guard machine.state != .closed, !bytes.isEmpty else { return }
        unread.append(bytes, bytes.indices)
    }

    /// False when reading must not go on from the same bytes.
    func receivedHead(_ head: ResponseHead, _ framing: BodyFraming, _ keepAlive: Bool) -> Bool {
        guard let exchange = current?.exchange else { return false }
        let headOctets = current?.headOctets ?? 0
        current?.metrics.version = head.version
        current?.metrics.responseHeadBytes = headOctets
        current?.bodyFraming = framing
        if let observation = exchange.observation, let metrics = current?.metrics {
            observation.received(head, metrics, at: loop.now)
        }
        cancelContinueTimer()
        responseKeepsAlive = keepAlive
        if keepAlive, let hint = head.fields.withFirstValue(of: .keepAlive, { KeepAlive(fieldValue: $0) }) {
            keepAliveHint = hint
        }
        if framing == .handover {
            _ = exchange.sink.receivedHead(head, framing: framing)
            return true
        }
        _ = machine.handle(.headReceived)
        if case .exchanging(.sending, _) = machine.state, exchange.options.stopsSendingWhenAnswered {
            // The machine never hears that the request was sent, and closes the connection with the response's end.
            current?.isAnswered = true
            current?.deadlines.handle(.sourceDry, at: loop.now)
        }
        if case .length(let length) = framing { current?.contentRemaining = length }
        switch exchange.sink.receivedHead(head, framing: framing) {
        case .deliver: break
        case .pause: pause()
        case .skip: return enough()
        case .splice(let target): beginSplice(target, framing)
        }
        return true
    }

    /// False when the consumer takes no more of the same bytes now.
    ///
    /// - Parameter isLast: Whether nothing more is at hand behind them.
    func receivedContent(_ bytes: Span<UInt8>, isLast: Bool) -> Bool {
        current?.metrics.responseContentBytes += Int64(bytes.count)
        spendContent(bytes.count)
        if isDraining {
            drainBudget -= bytes.count
            guard drainBudget >= 0 else {
                perform(machine.handle(.drainedEnough), .success(Fields()))
                return false
            }
            return true
        }
        guard let exchange = current?.exchange else { return false }
        guard let splice else { return obey(exchange.sink.receivedContent(bytes), of: exchange) }
        do throws(TransportError) {
            guard let written = try splice.take(bytes, isLast: isLast) else { return true }
            return obey(exchange.sink.spliced(written), of: exchange)
        } catch {
            fail(error)
            return false
        }
    }

    /// What was gathered goes into the file. False when the consumer takes no more now, or that failed.
    private func writeGathered() -> Bool {
        guard let splice, let exchange = current?.exchange else { return true }
        do throws(TransportError) {
            guard let written = try splice.writeGathered() else { return true }
            return obey(exchange.sink.spliced(written), of: exchange)
        } catch {
            fail(error)
            return false
        }
    }

    /// The same where nothing comes any more: nobody has to stop.
    private func finishSplice() {
        guard let splice, let exchange = current?.exchange else { return }
        do throws(TransportError) {
            if let written = try splice.writeGathered() { _ = exchange.sink.spliced(written) }
        } catch { fail(error) }
    }

    /// False when no more of the bytes at hand is taken now.
    private func obey(_ demand: Demand, of exchange: Exchange) -> Bool {
        switch demand {
        case .more: return machine.state != .closed
        case .pause:
            guard current?.exchange === exchange else { return false }
            pause()
            return false
        case .enough: return enough()
        }
    }

    func spendContent(_ count: Int) {
        guard let remaining = current?.contentRemaining else { return }
        current?.contentRemaining = remaining - Int64(count)
    }

    func pause() {
        guard case .exchanging(_, .receiving) = machine.state else { return }
        _ = machine.handle(.pause)
        current?.deadlines.handle(.readingPaused, at: loop.now)
    }

    /// The consumer wants no more. Returns whether the rest is read all the same. What of it is at hand is looked at before
    /// the sink hears of the end: then the next request to the same peer finds this connection, and needs no other.
    func enough() -> Bool {
        guard case .exchanging(_, .receiving) = machine.state else { return false }
        let framing = current?.bodyFraming
        let remaining = current?.contentRemaining
        let isShort: Bool =
            switch framing {
            case .some(.none): true
            case .length: (remaining ?? .max) <= Int64(Self.drainLimit)
            case .chunked: true
            case .untilClose, .handover, nil: false
            }
        drainBudget = Self.drainLimit
        let canLast = isShort && responseKeepsAlive
        perform(machine.handle(.enough(rest: canLast ? .short : .long)), .success(Fields()))
        guard isDraining else { return false }
        splice = nil
        drainTimer = loop.schedule(at: loop.now + Self.endDelay, self, tag: Tag.drain.rawValue)
        return true
    }

    func responseEnded(_ trailers: Fields, leftOver: Int) {
        // Bytes behind a response belong to nobody: whoever sent them is not to be trusted with another request.
        let isShared = route.tls?.isPersonal != true
        let reusable = leftOver == 0 && codec.mayBegin && !peerIsClosing && isShared
        perform(machine.handle(.responseEnded(reusable: reusable)), .success(trailers))
    }

    /// Nothing can be read any more. A TLS peer that left without a word may be an attacker who cut the answer short: what
    /// only the end of the connection would have told to be whole is not.
    func failReading(_ failure: ChannelFailure) {
        let error = failure.transportError(host: route.host, port: route.port)
        if failure == .tls(.truncated) { peerClosed(truncated: error) } else { lose(error) }
    }

    func peerClosed(truncated: TransportError? = nil) {
        peerIsClosing = true
        if machine.state == .upgraded { return upgradedPeerClosed(writeFailure ?? truncated) }
        do throws(HTTPError) {
            let event = try codec.peerClosed()
            if case .end(let trailers) = event {
                if let truncated { return lose(truncated) }
                perform(machine.handle(.responseEnded(reusable: false)), .success(trailers))
                return
            }
        } catch {
            // Without a word of an answer, the failed write says more than the end that followed it.
            let isSilent = current?.metrics.responseStart == nil
            return lose(
                isSilent
                    ? writeFailure ?? .http(host: route.host, port: route.port, error)
                    : .http(host: route.host, port: route.port, error))
        }
        lose(.http(host: route.host, port: route.port, .truncated(.beforeHead)))
    }
}
