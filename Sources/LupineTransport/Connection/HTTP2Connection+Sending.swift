// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// Sending: writes frames of all streams to the channel, one frame of each stream after the other. The kernel, the flow-control
/// windows, the rate limits and the content sources limit the speed.
extension HTTP2Connection {
    /// The number of octets of output after which no more frames are collected before they are written.
    private static let outputLimit = 64 * 1024
    /// The limit of content in one DATA frame: the size that every peer accepts (RFC 9113 §4.2). After each frame, the next
    /// stream may send.
    private static let frameContentLimit = 16 * 1024

    /// The last argument of `ByteChannel.send`. It is empty, because the content is in `output` here.
    private static let noContent: [UInt8] = []

    // MARK: a request's content

    /// Prepares the request's content to be sent, and queues the stream.
    func beginContent(of stream: HTTP2Stream) {
        // The index 0 and the file's offset: nothing has been sent yet.
        switch stream.exchange.content {
        case .none: stream.feed.state = .done
        case .bytes(let bytes): stream.feed.state = .bytes(bytes, from: 0)
        case .region(let region): stream.feed.state = .region(region, from: 0)
        case .file(let file): stream.feed.state = .file(file, offset: file.offset, remaining: file.count)
        case .stream(let source, _): stream.feed.state = .stream(source)
        }
        enqueue(stream)
    }

    /// Sends the content that waited for `100 Continue`, which has arrived or has not arrived in time.
    func releaseContent(of stream: HTTP2Stream) {
        guard isCarrying(stream) else { return }
        let actions = stream.machine.handle(.release)
        // False if no content waits any more.
        guard actions.releasesContent else { return }
        if let timer = stream.continueTimer.take() { loop.cancel(timer) }
        updateDeadlines(.sending, of: stream)
        beginContent(of: stream)
    }

    /// Queues a stream that may have something to send.
    func enqueue(_ stream: HTTP2Stream) {
        guard stream.isSending, !stream.isQueued, stream.sendPaceTimer == nil else { return }
        stream.isQueued = true
        senders.append(stream, as: stream.urgency)
        writeSoon()
    }

    /// Queues all streams that may have something to send. Streams stalled by the connection's window come first, in the order in
    /// which they stalled.
    func enqueueAll() {
        var waiting: [HTTP2Stream] = []
        swap(&waiting, &stalledStreams)
        for stream in waiting {
            stream.isStalled = false
            if isCarrying(stream) { enqueue(stream) }
        }
        for stream in streams.ordered { enqueue(stream) }
    }

    /// Removes and returns the next stream of the queue that may send content.
    private func nextSender() -> HTTP2Stream? {
        while !senders.isEmpty {
            let stream = senders.removeFirst()
            stream.isQueued = false
            if isCarrying(stream), stream.isSending { return stream }
        }
        return nil
    }

    // MARK: writing

    /// Sends as much as is available and the kernel accepts.
    func write() {
        guard life == .open, writeFailure == nil, flushChannel() else { return }
        var writeCount = 0
        while mayWrite, life == .open, writeFailure == nil {
            if outputStart == output.count { fillOutput() }
            guard life == .open, outputStart < output.count else { break }
            writeCount += 1
            if writeCount > Self.operationsPerTurn { return yieldWriting() }
            let outcome: WriteOutcome
            do throws(ChannelFailure) {
                outcome = try channel.send(output, from: outputStart, Self.noContent.span)
            } catch { return failWriting(error.transportError(host: route.host, port: route.port)) }
            guard case .bytes(let count) = outcome else {
                mayWrite = false
                break
            }
            recordWritten(count)
        }
    }

    /// Records that the channel has accepted `count` octets of the output.
    private func recordWritten(_ count: Int) {
        for stream in streamsInOutput where isCarrying(stream) {
            updateDeadlines(.wrote, of: stream)
            if stream.requestBegan { continue }
            stream.requestBegan = true
            // `appendFrame` may now ask the source for its first piece.
            if case .stream = stream.feed.state { enqueue(stream) }
        }
        outputStart += count
        guard outputStart == output.count else { return }
        // Keeps the buffer's memory, unless large heads have made it grow beyond its usual size.
        output.removeAll(keepingCapacity: output.capacity <= 2 * Self.outputLimit)
        outputStart = 0
        if !channel.hasPendingOutput { outputWasWritten() }
    }

    /// Collects the next output: the frames that the machine has prepared, and one DATA frame of each queued stream after the
    /// other.
    private func fillOutput() {
        output.removeAll(keepingCapacity: true)
        outputStart = 0
        takeOutput()
        while output.count < Self.outputLimit, life == .open, let stream = nextSender() {
            do throws(TransportError) {
                let mayHaveMore = try appendFrame(of: stream)
                // `stall` has no effect unless the connection's window is closed.
                if mayHaveMore, isCarrying(stream) { enqueue(stream) } else { stall(stream) }
            } catch { fail(stream, error) }
        }
        // Once more, for trailers, for RST_STREAM frames of failed streams, and for heads of streams that began meanwhile.
        if life == .open { takeOutput() }
    }

    /// Adds a stream that could not send because the connection's window was closed to `stalledStreams`.
    private func stall(_ stream: HTTP2Stream) {
        guard machine.sendRoom == 0, !stream.isStalled, isCarrying(stream), stream.isSending else { return }
        stream.isStalled = true
        stalledStreams.append(stream)
    }

    /// Sends PRIORITY_UPDATE frames for streams whose urgency has changed, one for each (RFC 9218 §7.1).
    private func sendPriorityUpdates() {
        guard !reprioritisedStreams.isEmpty else { return }
        for stream in reprioritisedStreams where isCarrying(stream) && stream.sentUrgency != stream.urgency {
            stream.sentUrgency = stream.urgency
            machine.sendPriority(stream.urgency.fieldValue.utf8.span, of: stream.id)
        }
        reprioritisedStreams = []
    }

    /// Takes the machine's output, and records the streams whose heads are in it.
    private func takeOutput() {
        sendPriorityUpdates()
        streamsInOutput += openingStreams
        openingStreams.removeAll(keepingCapacity: true)
        machine.takeOutput(into: &output)
    }

    /// Schedules a loop job that continues to write, so that the loop's other connections run first.
    private func yieldWriting() {
        guard !isWriteDue else { return }
        isWriteDue = true
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop {
            bound.value.isWriteDue = false
            bound.value.write()
        }
    }

    /// Sends output that TLS has accepted and the kernel has not; returns false while some of it waits.
    private func flushChannel() -> Bool {
        guard channel.hasPendingOutput else { return true }
        guard mayWrite else { return false }
        do throws(ChannelFailure) { try channel.flush() } catch {
            failWriting(error.transportError(host: route.host, port: route.port))
            return false
        }
        guard !channel.hasPendingOutput else {
            mayWrite = false
            return false
        }
        if outputStart == output.count { outputWasWritten() }
        // A sink that `outputWasWritten` has called may have closed the connection.
        return life == .open
    }

    /// Handles a write failure. The peer may have sent responses before the failure, so only sending stops. The connection ends
    /// when all input has been read.
    private func failWriting(_ error: TransportError) {
        writeFailure = error
        // Forces a read: the poller reports readable input only once, and may have done so already.
        mayRead = true
        // This runs in a separate loop job: received bytes may be in the middle of being handled.
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop { bound.value.read() }
    }

    /// Called when the kernel has accepted all collected output: updates the streams that had frames in it.
    private func outputWasWritten() {
        var written: [HTTP2Stream] = []
        swap(&written, &streamsInOutput)
        for stream in written where isCarrying(stream) {
            if stream.feed.contentOctetsSent > stream.metrics.requestContentBytes {
                stream.metrics.requestContentBytes = stream.feed.contentOctetsSent
                if stream.tunnel == nil { stream.exchange.sink.sentContent(stream.feed.contentOctetsSent) }
            }
            guard isCarrying(stream), case .exchanging(let request, _) = stream.machine.state else {
                continue
            }
            switch request {
            case .awaitingContinue:
                // While the content waits for `100 Continue`, the peer is not slow to accept it.
                updateDeadlines(.sourceDry, of: stream)
            case .sending where stream.isEndWritten:
                stream.metrics.requestEnd = loop.now
                updateDeadlines(.sent, of: stream)
                _ = stream.machine.handle(.requestSent)  // needs no action
            case .sending:
                if case .awaiting = stream.feed.state { updateDeadlines(.sourceDry, of: stream) }
                stream.tunnel?.outputWasWritten()
            case .sent: break
            }
        }
    }

    /// Sends the machine's last frames before the socket closes, if the kernel accepts them immediately. Sends nothing if a
    /// request head is among the frames: the pool may still send that request on another connection.
    func sendFinalFrames() {
        guard life == .open, writeFailure == nil, mayWrite, !channel.hasPendingOutput,
            openingStreams.isEmpty, outputStart == output.count
        else { return }
        output.removeAll(keepingCapacity: true)
        outputStart = 0
        machine.takeOutput(into: &output)
        // A failure is ignored: the connection ends in any case.
        if !output.isEmpty { _ = try? channel.send(output, from: 0, Self.noContent.span) }
    }

    // MARK: content

    /// Appends a DATA frame of the stream to the output, or asks the source for content. Returns whether the stream may have more
    /// to send now. Returns false also if a window or the rate limit allows no more.
    private func appendFrame(of stream: HTTP2Stream) throws(TransportError) -> Bool {
        switch stream.feed.state {
        case .done:
            try endRequest(of: stream)
            return false
        case .bytes(let bytes, let from):
            return try sendPiece(bytes.span, from: from, isLast: true, of: stream)
        case .region(let region, let from):
            return try region.withOctets { bytes throws(TransportError) in
                try sendPiece(bytes, from: from, isLast: true, of: stream)
            }
        case .piece(let bytes, let from, _):
            // If this piece completes the announced content, END_STREAM is sent with it, and the source is not asked for its end.
            let isLast = stream.announcedLength == stream.feed.contentOctetsSent + Int64(bytes.count - from)
            return try sendPiece(bytes.span, from: from, isLast: isLast, of: stream)
        case .file(let file, let offset, let remaining):
            return try sendFile(file, offset: offset, remaining: remaining, of: stream)
        case .stream(let source):
            // The source is not asked before some of the request has been sent: until then, the request may move to another
            // connection, which would need the content from its start.
            guard stream.requestBegan else { return false }
            if let tunnel = stream.tunnel { return try refillFeed(of: stream, from: tunnel, source) }
            stream.feed.state = .awaiting(source)
            updateDeadlines(.sourceDry, of: stream)
            requestPiece(from: source, for: stream)
            return false
        case .awaiting:
            return false
        }
    }

    /// Returns how many of `count` octets the rate limit allows now. If it allows none, sets a timer and returns 0.
    private func sendAllowance(_ count: Int, of stream: HTTP2Stream) -> Int {
        guard var rate = stream.sendRate else { return count }
        let allowance = rate.allowance(at: loop.now)
        if allowance == 0 {
            let resumeTime = rate.ready(for: min(count, rate.burst), at: loop.now)
            stream.sendPaceTimer = schedule(.sendPace, of: stream, at: resumeTime)
        }
        stream.sendRate = rate
        return min(count, allowance)
    }

    /// Appends a DATA frame with content from memory, `bytes` from `from` on, to the output; returns false if none may be sent
    /// now. `isLast` says that no content follows `bytes`.
    private func sendPiece(
        _ bytes: Span<UInt8>, from: Int, isLast: Bool, of stream: HTTP2Stream
    ) throws(TransportError) -> Bool {
        let unsent = bytes.count - from
        let count = sendAllowance(min(unsent, Self.frameContentLimit), of: stream)
        guard count > 0 else { return false }
        let frameOctets = try beginDataFrame(count, endsStream: isLast && count == unsent, of: stream)
        guard frameOctets > 0 else { return false }
        output.append(bytes, from..<from + frameOctets)
        stream.feed.advance(frameOctets)
        // `advance` would let the connection ask the source again after the last piece.
        if stream.isEndWritten { stream.feed.state = .done }
        return true
    }

    /// Reads a slice of a file and appends a DATA frame with it to the output; returns false if none may be sent now.
    private func sendFile(
        _ file: FileSource, offset: Int64, remaining: Int64, of stream: HTTP2Stream
    ) throws(TransportError) -> Bool {
        let limit = min(Int(clamping: remaining), Self.frameContentLimit, machine.sendRoom(of: stream.id))
        guard limit > 0 else { return false }
        let count = sendAllowance(limit, of: stream)
        guard count > 0 else { return false }
        var buffer = loop.borrowFileBuffer()
        defer { loop.giveBack(fileBuffer: buffer) }
        let filled: ReadOutcome
        do throws(Errno) {
            var whole = buffer.mutableSpan
            var space = whole._mutatingExtracting(first: count)
            filled = try file.descriptor.read(into: &space, at: offset)
        } catch { throw .file(error) }
        guard case .bytes(let readCount) = filled else {
            throw file.tooShort
        }
        let frameOctets = try beginDataFrame(
            readCount, endsStream: Int64(readCount) == remaining, of: stream)
        output.append(buffer.span, 0..<frameOctets)
        stream.feed.contentOctetsSent += Int64(frameOctets)
        let unsent = remaining - Int64(frameOctets)
        stream.feed.state =
            unsent == 0 ? .done : .file(file, offset: offset + Int64(frameOctets), remaining: unsent)
        return frameOctets > 0
    }

    /// Appends the header of a DATA frame for up to `count` octets to the output. Returns how many octets of content the caller
    /// has to append after it; the windows may allow fewer than `count`.
    private func beginDataFrame(
        _ count: Int, endsStream: Bool, of stream: HTTP2Stream
    ) throws(TransportError) -> Int {
        do throws(HTTP2SendError) {
            let frameOctets = try machine.sendContent(
                count, on: stream.id, endsStream: endsStream, into: &output)
            // An empty frame is sent only to end the stream.
            guard frameOctets > 0 || endsStream && count == 0 else { return 0 }
            stream.sendRate?.spend(frameOctets, at: loop.now)
            if endsStream, frameOctets == count { stream.isEndWritten = true }
            streamsInOutput.append(stream)
            return frameOctets
        } catch {
            // `sendContent` throws only if the stream or the connection accepts no more frames.
            throw http2Error(.refused)
        }
    }

    /// Opens a stream with the head of a request, and returns its identifier and the head. `announcement` is the length of the
    /// request's content. Returns nil if only another connection can carry the exchange.
    func openStream(
        for exchange: Exchange, _ announcement: OutgoingBody, _ urgency: Urgency, expectContinue: Bool,
        endsStream: Bool
    ) throws(TransportError) -> (id: StreamID, list: HeaderList)? {
        let list = try headerList(of: exchange, announcement, urgency, expectContinue: expectContinue)
        do throws(HTTP2SendError) {
            let method = exchange.options.isWebSocket ? .connect : exchange.head.method
            let streamID = try machine.open(list, method: method, endsStream: endsStream)
            return (streamID, list)
        } catch {
            switch error {
            case .headerListTooLarge(let size, let allowed):
                throw http2Error(.requestTooLarge(size, allowed: allowed))
            case .connectionShuttingDown: pool.retireConnection(id)
            // The pool knows these states already, from `capacityChanged` or `end`.
            case .tooManyStreams, .connectionOver, .streamOver: break
            }
            return nil
        }
    }

    /// Returns the head of a request as a header list. `announcement` is the length of its content.
    private func headerList(
        of exchange: Exchange, _ announcement: OutgoingBody, _ urgency: Urgency, expectContinue: Bool
    ) throws(TransportError) -> HeaderList {
        guard exchange.head.method != .connect else { throw .unsupported("CONNECT over HTTP/2") }
        let scheme = exchange.origin.scheme == .https ? "https" : "http"
        do throws(HTTPError) {
            let sendsPriority = urgency != .normal && !exchange.head.fields.contains(.priority)
            // Most heads need no further field, and are encoded without a copy.
            guard expectContinue || sendsPriority || exchange.options.isWebSocket else {
                return try MessageEncoder.request(exchange.head, scheme: scheme, body: announcement)
            }
            var head = exchange.head
            if expectContinue { try head.fields.set(.expect, "100-continue") }
            if sendsPriority { try head.fields.append(.priority, urgency.fieldValue) }
            if exchange.options.isWebSocket { return try MessageEncoder.webSocket(head, scheme: scheme) }
            return try MessageEncoder.request(head, scheme: scheme, body: announcement)
        } catch { throw .http(host: route.host, port: route.port, error) }
    }

    /// Ends the request, with trailers if there are some.
    func endRequest(of stream: HTTP2Stream) throws(TransportError) {
        guard !stream.isEndWritten else { return }
        guard !stream.trailers.isEmpty else {
            _ = try beginDataFrame(0, endsStream: true, of: stream)
            return
        }
        let list: HeaderList
        do throws(HTTPError) { list = try MessageEncoder.trailers(stream.trailers) } catch {
            throw .http(host: route.host, port: route.port, error)
        }
        do throws(HTTP2SendError) { try machine.send(list, on: stream.id, endsStream: true) } catch {
            // Every other error says that the stream or the connection accepts no more frames.
            guard case .headerListTooLarge(let size, let allowed) = error else { throw http2Error(.refused) }
            throw http2Error(.requestTooLarge(size, allowed: allowed))
        }
        stream.isEndWritten = true
        streamsInOutput.append(stream)
    }

    // MARK: content from a source

    /// Asks the source for the next piece of the stream's content.
    private func requestPiece(from source: any ContentSource, for stream: HTTP2Stream) {
        let bound = LoopBound((self, stream), on: loop)
        source.next { [loop] piece in
            // The reply is handled in a loop job, and never synchronously: a source that always has data would otherwise grow the
            // stack. If the loop has ended and accepts no job, the stream has ended too.
            _ = loop.execute {
                let (connection, stream) = bound.value
                connection.sourceReplied(piece, for: stream)
            }
        }
    }

    /// Handles the reply of the source, unless the stream has ended.
    private func sourceReplied(_ piece: ContentPiece, for stream: HTTP2Stream) {
        guard isCarrying(stream), case .awaiting(let source) = stream.feed.state else { return }
        switch piece {
        case .bytes(let bytes):
            guard !bytes.isEmpty else { return requestPiece(from: source, for: stream) }
            let total = stream.feed.contentOctetsSent + Int64(bytes.count)
            if let announced = stream.announcedLength, total > announced {
                return failLengthMismatch(stream, announced, supplied: total)
            }
            stream.feed.state = .piece(bytes, from: 0, source)
        case .end(let trailers):
            if let announced = stream.announcedLength, stream.feed.contentOctetsSent != announced {
                return failLengthMismatch(stream, announced, supplied: stream.feed.contentOctetsSent)
            }
            stream.trailers = trailers
            stream.feed.state = .done
        case .failed(let reason):
            return fail(stream, .content(reason))
        }
        updateDeadlines(.sending, of: stream)
        enqueue(stream)
    }

    /// Fails a stream whose source supplies more or less content than was announced.
    private func failLengthMismatch(_ stream: HTTP2Stream, _ announced: Int64, supplied: Int64) {
        fail(
            stream,
            .http(
                host: route.host, port: route.port,
                .bodyLengthMismatch(announced: announced, given: supplied)))
    }
}
