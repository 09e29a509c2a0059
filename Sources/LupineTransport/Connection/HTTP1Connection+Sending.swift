// SPDX-License-Identifier: MIT

import LupineHTTP

/// Sending: moves framing and content from the writer into the channel, as fast as the kernel, the rate limit and the content
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
        if current?.exchange == nil { notifyIfDrained() }
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
        if machine.state == .upgraded { current?.writer.clear() }
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
    private func writeNext() throws(TransportError) -> Bool {
        guard let current else { return false }
        switch current.writer.next() {
        case .framing: return try sendFraming(of: current)
        case .bytes(let bytes, let from): return try sendPiece(bytes.span, from: from, of: current)
        case .region(let region, let from):
            return try region.withOctets { bytes throws(TransportError) in
                try sendPiece(bytes, from: from, of: current)
            }
        case .file(let file, let offset, let remaining):
            return try sendFile(file, offset: offset, remaining: remaining, of: current)
        case .stream(let source):
            if current.writer.hasOutput { guard try sendFraming(of: current) else { return false } }
            guard current.writer.ask(source) else { return true }
            current.deadlines.handle(.sourceDry, at: loop.now)
            requestPiece(from: source)
            return true
        case .nothing: return false
        case .end(let isFramed): return try endRequest(of: current, isFramed: isFramed)
        }
    }

    /// Returns how many of `count` octets of content the rate limit allows to send now. If it allows none, sets a timer and returns
    /// nil.
    private func sendAllowance(_ count: Int, of current: CurrentExchange) -> Int? {
        guard current.writer.isLimited else { return count }
        switch current.writer.allowance(count, at: loop.now) {
        case .bytes(let allowed): return allowed
        case .wait(let instant):
            pace(until: instant)
            return nil
        }
    }

    /// Sends content from memory, with the framing before it, as far as the rate limit allows; returns false when nothing more
    /// can be sent now.
    private func sendPiece(
        _ bytes: Span<UInt8>, from: Int, of current: CurrentExchange
    ) throws(TransportError) -> Bool {
        guard let count = sendAllowance(bytes.count - from, of: current) else { return false }
        return try send(bytes.extracting(from..<(from + count)), of: current)
    }

    /// Sends waiting framing and `content`; returns false when the kernel accepts no more.
    private func send(_ content: Span<UInt8>, of current: CurrentExchange) throws(TransportError) -> Bool {
        guard current.writer.hasOutput || !content.isEmpty else { return false }
        let outcome: WriteOutcome
        do throws(ChannelFailure) {
            outcome = try channel.send(current.writer.output, from: current.writer.outputStart, content)
        } catch { throw error.transportError(host: route.host, port: route.port) }
        guard case .bytes(let count) = outcome else {
            mayWrite = false
            return false
        }
        recordWritten(content: current.writer.recordSent(count), of: current)
        return true
    }

    /// Sends waiting framing; returns false when the kernel accepts no more.
    private func sendFraming(of current: CurrentExchange) throws(TransportError) -> Bool {
        try send([UInt8]().span, of: current)
    }

    /// Records that the kernel has accepted bytes, of which `content` were content.
    private func recordWritten(content: Int, of current: CurrentExchange) {
        // After an upgrade there is no exchange whose metrics or deadlines would change.
        guard let exchange = current.exchange else {
            notifyIfDrained()
            return
        }
        current.deadlines.handle(.wrote, at: loop.now)
        guard content > 0 else { return }
        if current.writer.isLimited { current.writer.spend(content, at: loop.now) }
        let contentOctetsSent = current.writer.contentOctetsSent
        current.metrics.requestContentBytes = contentOctetsSent
        exchange.sink.sentContent(contentOctetsSent)
    }

    /// Sends a slice of a file with `sendfile(2)`, or through memory where that is impossible or slower. Returns false when
    /// nothing more can be sent now.
    private func sendFile(
        _ file: FileSource, offset: Int64, remaining: Int64, of current: CurrentExchange
    ) throws(TransportError) -> Bool {
        guard channel.isTransparent, !route.isSameHost else {
            return try sendFileThroughMemory(file, offset: offset, remaining: remaining, of: current)
        }
        let wanted = Int(clamping: min(remaining, Self.fileOctetsPerCall))
        guard let limit = sendAllowance(wanted, of: current) else { return false }
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
            current.writer.recordSent(
                count, of: file, nextOffset: position, remaining: remaining - Int64(count))
            recordWritten(content: count, of: current)
            return true
        case .wouldBlock:
            mayWrite = false
            return false
        case .end:
            throw file.tooShort
        }
    }

    /// Reads a slice of a file into memory and sends it. TLS needs this, and for a peer on this machine it is faster than
    /// `sendfile(2)`. Bytes that the channel does not accept are read again.
    private func sendFileThroughMemory(
        _ file: FileSource, offset: Int64, remaining: Int64, of current: CurrentExchange
    ) throws(TransportError) -> Bool {
        let size = channel.isTransparent ? EventLoop.fileBufferSize / 2 : EventLoop.readBufferSize
        let wanted = Int(clamping: min(remaining, Int64(size)))
        guard let limit = sendAllowance(wanted, of: current) else { return false }
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
        current.writer.recordSent(
            count, of: file, nextOffset: offset + Int64(count), remaining: remaining - Int64(count))
        recordWritten(content: count, of: current)
        // After a partial write the socket's buffer is full; the loop reports when the socket is writable.
        if count < readCount, channel.isTransparent { mayWrite = false }
        return mayWrite
    }

    /// Asks the source for the next piece of content.
    private func requestPiece(from source: any ContentSource) {
        let bound = LoopBound(self, on: loop)
        let exchange = current?.exchange
        source.next { [loop] piece in
            // The reply is handled in a loop job, and never synchronously: a source that always has data would otherwise grow the
            // stack. If the loop has ended and accepts no job, the exchange has ended too.
            _ = loop.execute { bound.value.sourceReplied(piece, for: exchange) }
        }
    }

    /// Handles the reply of the source, unless the exchange has ended.
    private func sourceReplied(_ piece: ContentPiece, for exchange: Exchange?) {
        guard let exchange, let current, current.exchange === exchange,
            let source = current.writer.askedSource
        else { return }
        do throws(HTTPError) {
            switch piece {
            case .bytes(let bytes):
                guard !bytes.isEmpty else { return requestPiece(from: source) }
                try current.add(bytes, from: source)
            case .end(let trailers): try current.addEnd(trailers: trailers)
            case .failed(let reason):
                return fail(.content(reason))
            }
        } catch {
            return fail(.http(host: route.host, port: route.port, error))
        }
        current.deadlines.handle(.sending, at: loop.now)
        write()
        armDeadline()
    }

    /// Ends the request, all of whose content has been passed to the channel. Returns true if the end needs framing, which the
    /// caller sends next.
    private func endRequest(of current: CurrentExchange, isFramed: Bool) throws(TransportError) -> Bool {
        guard case .exchanging(.sending, _) = machine.state else {
            // While the content waits for `100 Continue`, the peer is not slow to accept it.
            current.deadlines.handle(.sourceDry, at: loop.now)
            return false
        }
        if !isFramed {
            do throws(HTTPError) { try current.addEnd() } catch {
                throw .http(host: route.host, port: route.port, error)
            }
            if current.writer.hasOutput { return true }
        }
        // TLS has accepted the last bytes, but the kernel has not: `write` calls this function again when it has.
        guard !channel.hasPendingOutput else {
            mayWrite = false
            return false
        }
        current.metrics.requestEnd = loop.now
        current.deadlines.handle(.sent, at: loop.now)
        _ = machine.handle(.requestSent)  // needs no action
        return false
    }
}
