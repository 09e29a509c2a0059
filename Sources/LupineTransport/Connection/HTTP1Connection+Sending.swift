// SPDX-License-Identifier: MIT

import LupineHTTP

/// Sending: moves framing and content from the feed into the channel, as fast as the kernel, the rate limit and the content
/// source allow.
extension HTTP1Connection {
    /// Whether the request, or the protocol after an upgrade, may still send bytes.
    var isSending: Bool {
        switch machine.state {
        // While content waits for `100 Continue`, the head is still to be sent.
        case .exchanging(.sending, _), .exchanging(.awaitingContinue, _):
            !(current?.hasStoppedSending ?? false)
        case .exchanging(.sent, _), .idle, .skipping, .draining, .closed: false
        case .upgraded: true
        }
    }

    /// Sends as much as is available and the kernel accepts.
    func write() {
        guard !isSuspended, flushChannel() else { return }
        var writeCount = 0
        while mayWrite, isSending, writeFailure == nil, !isSuspended {
            writeCount += 1
            if writeCount > Self.operationsPerTurn { return yieldWriting() }
            do throws(TransportError) {
                guard try writeNext() else { break }
            } catch {
                return failWriting(error)
            }
        }
    }

    /// Schedules a loop job that continues to write, so that the loop's other connections run first.
    private func yieldWriting() {
        guard !isWriteDue else { return }
        isWriteDue = true
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop {
            bound.value.isWriteDue = false
            bound.value.write()
            bound.value.armDeadline()
        }
    }

    /// Sends output that TLS has accepted and the kernel has not; returns false while some of it waits.
    private func flushChannel() -> Bool {
        guard channel.hasPendingOutput, writeFailure == nil else { return true }
        guard mayWrite else { return false }
        let octetsSentBefore = channel.octetsSent
        do throws(ChannelFailure) {
            try channel.flush()
        } catch {
            failWriting(error.transportError(host: route.host, port: route.port))
            return false
        }
        if channel.octetsSent != octetsSentBefore { current?.deadlines.handle(.wrote, at: loop.now) }
        guard !channel.hasPendingOutput else {
            mayWrite = false
            return false
        }
        // After an upgrade, the handler may wait for the call of `drained`.
        if current == nil { notifyIfDrained() }
        return true
    }

    /// Handles a write failure. The peer may have sent a response before the failure, so a failure of the connection only stops
    /// sending: the exchange ends after the remaining input has been read. Under TLS a write can also fail because a received
    /// record is broken. A local error, such as that of a file, ends the exchange at once.
    func failWriting(_ error: TransportError) {
        switch error {
        case .connectionLost, .tls: break
        default: return fail(error)
        }
        writeFailure = error
        if machine.state == .upgraded { feed.clear() }
        // Forces a read: the poller reports readable input only once, and may have done so already.
        mayRead = true
        // This runs in a separate loop job: received bytes may be in the middle of being handled.
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop { bound.value.readRemainingInput() }
    }

    /// Reads what the peer sent before a write failure. If the input does not contain the end of the stream, closes the
    /// connection.
    func readRemainingInput() {
        guard let writeFailure, machine.state != .closed else { return }
        // The end of the peer's stream has been read already.
        if upgrade?.pendingEnd != nil { return endUpgrade(writeFailure) }
        read()
        if machine.state != .closed, !mayRead { connectionLost(writeFailure) }
    }

    /// Sends the next framing or content of the request, as far as one system call allows; returns false when nothing can be
    /// sent now.
    func writeNext() throws(TransportError) -> Bool {
        switch feed.state {
        case .done:
            guard feed.hasOutput else { return try endRequest() }
            return try sendFraming()
        case .bytes(let bytes, let from), .piece(let bytes, let from, _):
            return try sendPiece(bytes.span, from: from)
        case .region(let region, let from):
            return try region.withOctets { bytes throws(TransportError) in try sendPiece(bytes, from: from) }
        case .file(let file, let offset, let remaining):
            if feed.hasOutput { return try sendFraming() }
            return try sendFile(file, offset: offset, remaining: remaining)
        case .stream(let source):
            if feed.hasOutput { guard try sendFraming() else { return false } }
            if case .stream(_, let length?) = current?.exchange.content, feed.contentOctetsSent >= length {
                // All announced content has been sent, so the source is not asked for its end: the peer may respond already.
                feed.state = .done
                return true
            }
            feed.state = .awaiting(source)
            current?.deadlines.handle(.sourceDry, at: loop.now)
            requestPiece(from: source)
            return true
        case .awaiting:
            return feed.hasOutput ? try sendFraming() : false
        }
    }

    /// Sends content from memory, with the framing before it, as far as the rate limit allows; returns false when nothing more
    /// can be sent now.
    func sendPiece(_ bytes: Span<UInt8>, from: Int) throws(TransportError) -> Bool {
        var end = bytes.count
        if var rate = current?.sendRate {
            let allowance = rate.allowance(at: loop.now)
            let resumeTime = rate.ready(for: min(end - from, rate.burst), at: loop.now)
            current?.sendRate = rate
            guard allowance > 0 else {
                pace(until: resumeTime)
                return false
            }
            end = min(end, from + allowance)
        }
        return try send(bytes.extracting(from..<end))
    }

    /// Sends waiting framing and `content`; returns false when the kernel accepts no more.
    func send(_ content: Span<UInt8>) throws(TransportError) -> Bool {
        guard feed.hasOutput || !content.isEmpty else { return false }
        let outcome: WriteOutcome
        do throws(ChannelFailure) {
            outcome = try channel.send(feed.output, from: feed.outputStart, content)
        } catch { throw error.transportError(host: route.host, port: route.port) }
        guard case .bytes(let count) = outcome else {
            mayWrite = false
            return false
        }
        let contentBefore = feed.contentOctetsSent
        feed.advance(count)
        recordWritten(content: feed.contentOctetsSent - contentBefore)
        return true
    }

    /// Sends waiting framing; returns false when the kernel accepts no more.
    private func sendFraming() throws(TransportError) -> Bool { try send([UInt8]().span) }

    /// Records that the kernel has accepted bytes, of which `content` were content.
    func recordWritten(content: Int64) {
        // After an upgrade there is no exchange whose metrics or deadlines would change.
        guard current != nil else {
            notifyIfDrained()
            return
        }
        current?.requestBegan = true
        current?.deadlines.handle(.wrote, at: loop.now)
        guard content > 0 else { return }
        current?.sendRate?.spend(Int(content), at: loop.now)
        current?.metrics.requestContentBytes = feed.contentOctetsSent
        current?.exchange.sink.sentContent(feed.contentOctetsSent)
    }

    /// Sends a slice of a file with `sendfile(2)`, or through memory where that is impossible or slower. Returns false when
    /// nothing more can be sent now.
    func sendFile(_ file: FileSource, offset: Int64, remaining: Int64) throws(TransportError) -> Bool {
        guard channel.isTransparent, !route.isSameHost else {
            return try sendFileThroughMemory(file, offset: offset, remaining: remaining)
        }
        var limit = Int(clamping: min(remaining, Self.fileOctetsPerCall))
        if var rate = current?.sendRate {
            let allowance = rate.allowance(at: loop.now)
            let resumeTime = rate.ready(for: min(limit, rate.burst), at: loop.now)
            current?.sendRate = rate
            guard allowance > 0 else {
                pace(until: resumeTime)
                return false
            }
            limit = min(limit, allowance)
        }
        var position = offset
        let outcome: ReadOutcome
        do throws(Errno) {
            outcome = try channel.send(file: file.descriptor, offset: &position, count: limit)
        } catch {
            // `sendfile` reports these errors for a file that it cannot read, and never for a socket.
            let isFileError = error == .invalidArgument || error == .inputOutput
            throw isFileError ? .file(error) : .connectionLost(host: route.host, port: route.port, error)
        }
        switch outcome {
        case .bytes(let count):
            recordSent(file, nextOffset: position, remaining: remaining - Int64(count), count)
            return true
        case .wouldBlock:
            mayWrite = false
            return false
        case .end:
            throw file.tooShort
        }
    }

    /// Records that the kernel has accepted `count` bytes of a file; `remaining` bytes from `nextOffset` on are still to be sent.
    private func recordSent(_ file: FileSource, nextOffset: Int64, remaining: Int64, _ count: Int) {
        feed.contentOctetsSent += Int64(count)
        feed.state = remaining == 0 ? .done : .file(file, offset: nextOffset, remaining: remaining)
        recordWritten(content: Int64(count))
    }

    /// Reads a slice of a file into memory and sends it. TLS needs this, and for a peer on this machine it is faster than
    /// `sendfile(2)`. Bytes that the channel does not accept are read again.
    func sendFileThroughMemory(
        _ file: FileSource, offset: Int64, remaining: Int64
    ) throws(TransportError) -> Bool {
        let size = channel.isTransparent ? EventLoop.fileBufferSize / 2 : EventLoop.readBufferSize
        var limit = Int(clamping: min(remaining, Int64(size)))
        if var rate = current?.sendRate {
            let allowance = rate.allowance(at: loop.now)
            let resumeTime = rate.ready(for: min(limit, rate.burst), at: loop.now)
            current?.sendRate = rate
            guard allowance > 0 else {
                pace(until: resumeTime)
                return false
            }
            limit = min(limit, allowance)
        }
        var buffer = loop.borrowFileBuffer()
        defer { loop.giveBack(fileBuffer: buffer) }
        let filled: ReadOutcome
        do throws(Errno) {
            var whole = buffer.mutableSpan
            var space = whole._mutatingExtracting(first: limit)
            filled = try file.descriptor.read(into: &space, at: offset)
        } catch { throw .file(error) }
        guard case .bytes(let readCount) = filled else { throw file.tooShort }
        let outcome: WriteOutcome
        do throws(ChannelFailure) {
            // Without framing (`[]` from its index 0): `writeNext` has sent the framing before the file.
            outcome = try channel.send([], from: 0, buffer.span.extracting(first: readCount))
        } catch { throw error.transportError(host: route.host, port: route.port) }
        guard case .bytes(let count) = outcome else {
            mayWrite = false
            return false
        }
        recordSent(file, nextOffset: offset + Int64(count), remaining: remaining - Int64(count), count)
        // After a partial write the socket's buffer is full; the loop reports when the socket is writable.
        if count < readCount, channel.isTransparent { mayWrite = false }
        return mayWrite
    }

    /// Asks the source for the next piece of content.
    func requestPiece(from source: any ContentSource) {
        let bound = LoopBound(self, on: loop)
        let exchange = current?.exchange
        source.next { [loop] piece in
            // The reply is handled in a loop job, and never synchronously: a source that always has data would otherwise grow the
            // stack. If the loop has ended and accepts no job, the exchange has ended too.
            _ = loop.execute { bound.value.sourceReplied(piece, for: exchange) }
        }
    }

    /// Handles the reply of the source, unless the exchange has ended.
    func sourceReplied(_ piece: ContentPiece, for exchange: Exchange?) {
        guard let exchange, current?.exchange === exchange, case .awaiting(let source) = feed.state else {
            return
        }
        do throws(HTTPError) {
            switch piece {
            case .bytes(let bytes):
                guard !bytes.isEmpty else { return requestPiece(from: source) }
                try codec.sendContent(bytes.count, into: &feed.output)
                feed.state = .piece(bytes, from: 0, source)
            case .end(let trailers):
                try codec.sendEnd(trailers: trailers, into: &feed.output)
                feed.state = .done
            case .failed(let reason):
                return fail(.content(reason))
            }
        } catch {
            return fail(.http(host: route.host, port: route.port, error))
        }
        current?.deadlines.handle(.sending, at: loop.now)
        write()
        armDeadline()
    }

    /// Ends the request, all of whose content has been passed to the channel. Returns true if the end needs framing, which the
    /// caller sends next.
    func endRequest() throws(TransportError) -> Bool {
        guard case .exchanging(.sending, _) = machine.state else {
            // While the content waits for `100 Continue`, the peer is not slow to accept it.
            current?.deadlines.handle(.sourceDry, at: loop.now)
            return false
        }
        if !codec.requestIsSent {
            do throws(HTTPError) {
                try codec.sendEnd(into: &feed.output)
            } catch { throw .http(host: route.host, port: route.port, error) }
            if feed.hasOutput { return true }
        }
        // TLS has accepted the last bytes, but the kernel has not: `write` calls this function again when it has.
        guard !channel.hasPendingOutput else {
            mayWrite = false
            return false
        }
        current?.metrics.requestEnd = loop.now
        current?.deadlines.handle(.sent, at: loop.now)
        _ = machine.handle(.requestSent)  // needs no action
        return false
    }
}
