// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineHTTP2
internal import LupineTransport

// Responses: heads, and content that is sent in pieces, stream after stream.

extension HTTP2Conversation {
    /// Sends the response that `body` returns, if any. If `body` throws, sends the refusal, and drops the rest of the request's
    /// body.
    func answer(
        _ stream: OriginStream, _ connection: ServerConnection,
        _ body: () throws(Refusal) -> OriginResponse?
    ) {
        let response: OriginResponse?
        do throws(Refusal) {
            response = try body()
        } catch {
            if case .body = stream.requestState { stream.requestState = .discarding }
            let refusal = try? OriginResponse(
                error.status, json: .object([("error", .string(error.message))]))
            response = refusal ?? OriginResponse(error.status)
        }
        guard let response, case .none = stream.responseState else { return }
        if let gate = response.gate {
            stream.responseState = .delayed(response)
            connection.call(when: gate, resumption(stream, connection))
        } else if let delay = response.delay {
            stream.responseState = .delayed(response)
            connection.call(after: delay, resumption(stream, connection))
        } else {
            send(response, on: stream, connection)
        }
    }

    /// Returns a closure that resumes a stream after a wait. It holds weak references only.
    private func resumption(_ stream: OriginStream, _ connection: ServerConnection) -> () -> Void {
        { [weak self, weak stream, weak connection] in
            if let self, let stream, let connection { resumeStream(stream, connection) }
        }
    }

    /// Resumes a stream whose wait has ended.
    private func resumeStream(_ stream: OriginStream, _ connection: ServerConnection) {
        guard streams[stream.id] === stream else { return }
        switch stream.responseState {
        case .delayed(let response):
            stream.responseState = .none
            guard let choose = response.choice else { return send(response, on: stream, connection) }
            answer(stream, connection) { () throws(Refusal) in
                switch try choose() {
                case .respond(let response): return response
                case .follow(let script):
                    follow(script, connection)
                    return nil
                case .perform(let script):
                    startScript(script, on: stream, connection)
                    return nil
                }
            }
        case .paused(let producer):
            stream.responseState = .streaming(producer)
            enqueue(stream)
        case .none, .streaming, .sent: break
        }
    }

    /// Sends a head, after which the stream stays open.
    func send(_ head: ResponseHead, on stream: OriginStream) {
        guard let list = try? MessageEncoder.response(head, body: .none) else { return }
        // Fails if the stream has ended, which then needs no head.
        try? machine.send(list, on: stream.id, endsStream: false)
    }

    private func send(_ answer: OriginResponse, on stream: OriginStream, _ connection: ServerConnection) {
        var response = answer
        // A successful response to CONNECT would open a web socket or a tunnel, which this endpoint does not provide.
        if stream.method == .connect, response.status.kind == .successful { response = OriginResponse(400) }
        for head in response.interim { send(head, on: stream) }
        do throws(HTTPError) {
            var fields = response.fields
            if !fields.contains(.date) { try fields.append(.date, date.value().span) }
            let head = ResponseHead(status: response.status, fields: fields)
            try send(head, response.body, on: stream)
        } catch {
            // The endpoint made a response that cannot be encoded.
            machine.reset(stream.id, .internalError)
            streams[stream.id] = nil
        }
        if response.closesConnection { machine.shutDown() }
    }

    private func send(
        _ head: ResponseHead, _ body: OriginResponse.Body, on stream: OriginStream
    ) throws(HTTPError) {
        let omitsContent = stream.method == .head || head.status.code == 204 || head.status.code == 304
        let bodyLength: OutgoingBody
        switch body {
        case .none: bodyLength = head.status.code == 204 || head.status.code == 304 ? .none : .known(0)
        case .bytes(let bytes):
            bodyLength = .known(Int64(bytes.count))
            stream.content = bytes
            stream.trailers = Fields()
        case .stream(let length, _): bodyLength = length.map { .known($0) } ?? .unknown
        }
        let isEmpty: Bool
        if case .stream = body {
            isEmpty = omitsContent
        } else {
            isEmpty = omitsContent || stream.content.isEmpty
        }
        let list = try MessageEncoder.response(head, body: bodyLength)
        do throws(HTTP2SendError) { try machine.send(list, on: stream.id, endsStream: isEmpty) } catch {
            streams[stream.id] = nil
            return
        }
        if isEmpty {
            stream.responseState = .sent
            return removeIfEnded(stream)
        }
        if case .stream(_, let producer) = body {
            stream.responseState = .streaming(producer)
        } else {
            stream.responseState = .streaming(nil)
        }
        enqueue(stream)
    }

    /// Adds a stream to the queue of senders, after the streams of the same or a higher urgency.
    func enqueue(_ stream: OriginStream) { senders.add(stream) }

    /// Sends a piece of the next stream in the queue. Returns false if no stream can send.
    func sendNext(_ connection: ServerConnection) -> Bool {
        while let stream = senders.popFirst() {
            guard streams[stream.id] === stream else { continue }
            if case .streaming(let producer?) = stream.responseState, stream.content.isEmpty, stream.trailers == nil {
                produce(producer, for: stream, connection)
                if case .streaming = stream.responseState, stream.content.isEmpty, stream.trailers == nil {
                    // The producer made an empty piece.
                    enqueue(stream)
                    return true
                }
            }
            if sendContent(of: stream, connection) { return true }
        }
        return false
    }

    /// Obtains the next piece of a streamed response.
    private func produce(
        _ producer: @escaping OriginStream.Producer, for stream: OriginStream, _ connection: ServerConnection
    ) {
        piece.removeAll(keepingCapacity: true)
        let continuation = producer(&piece, Self.pieceBytes)
        stream.content = piece
        stream.contentStart = 0
        switch continuation {
        case .more: break
        case .pause(let delay):
            stream.responseState = .paused(producer)
            connection.call(after: delay, resumption(stream, connection))
        case .wait(let gate):
            stream.responseState = .paused(producer)
            connection.call(when: gate, resumption(stream, connection))
        case .end(let trailers): stream.trailers = trailers
        }
    }

    /// Sends a piece of the stream's content. Returns false if there is none, or the windows have no space.
    private func sendContent(of stream: OriginStream, _ connection: ServerConnection) -> Bool {
        let remaining = stream.content.count - stream.contentStart
        let count = min(remaining, stream.scriptProgress?.maximumFrameSize ?? Self.pieceBytes)
        let endsStream = stream.trailers?.isEmpty == true && count == remaining
        guard count > 0 || stream.trailers != nil else { return false }
        do throws(HTTP2SendError) {
            if count == 0, let trailers = stream.trailers, !trailers.isEmpty {
                return try sendTrailers(trailers, on: stream)
            }
            let sent = try machine.sendContent(
                count, on: stream.id, endsStream: endsStream, into: &connection.output)
            guard sent > 0 || count == 0 else { return false }
            connection.output += stream.content[stream.contentStart..<stream.contentStart + sent]
            stream.contentStart += sent
            let isContentSent = stream.contentStart == stream.content.count
            if isContentSent {
                stream.content = []
                stream.contentStart = 0
            }
            let hasEndedStream = endsStream && sent == count
            if stream.scriptProgress != nil, isContentSent {
                if hasEndedStream { stream.trailers = nil }
                runScript(stream, connection)
            } else if hasEndedStream {
                stream.responseState = .sent
                removeIfEnded(stream)
            } else if isContentSent, stream.webSocket != nil {
                advanceWebSocket(on: stream)
            } else {
                enqueue(stream)
            }
            return true
        } catch {
            remove(stream)
            return true
        }
    }

    /// Ends a stream with its trailers. Always returns true, because it has made progress.
    private func sendTrailers(
        _ trailers: Fields, on stream: OriginStream
    ) throws(HTTP2SendError) -> Bool {
        guard let list = try? MessageEncoder.trailers(trailers) else {
            machine.reset(stream.id, .internalError)
            streams[stream.id] = nil
            return true
        }
        try machine.send(list, on: stream.id, endsStream: true)
        stream.responseState = .sent
        removeIfEnded(stream)
        return true
    }
}
