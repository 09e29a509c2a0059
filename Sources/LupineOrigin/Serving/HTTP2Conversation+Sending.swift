// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineHTTP2
internal import LupineTransport

// Responses: heads, and content. The streams take turns to send a piece of content each.

extension HTTP2Conversation {
    /// Sends the response that `body` returns, if any. If `body` throws, sends the refusal, and drops the rest of the request's
    /// body. Has no effect if the stream already has a response.
    func answer(
        _ stream: OriginStream, _ connection: ServerConnection,
        _ body: () throws(Refusal) -> OriginResponse?
    ) {
        let response: OriginResponse?
        do throws(Refusal) {
            response = try body()
        } catch {
            if case .body = stream.requestState { stream.requestState = .discardingBody }
            // Creating a response with a JSON document cannot fail: its `Content-Type` is legal.
            let refusal = try? OriginResponse(
                error.status, json: .object([("error", .string(error.message))]))
            response = refusal ?? OriginResponse(error.status)
        }
        guard let response, case .notBegun = stream.responseState else { return }
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

    /// Returns a closure that resumes a stream after a wait. The closure has weak references only.
    private func resumption(_ stream: OriginStream, _ connection: ServerConnection) -> () -> Void {
        { [weak self, weak stream, weak connection] in
            if let self, let stream, let connection { resumeStream(stream, connection) }
        }
    }

    /// Resumes a stream whose wait has ended.
    private func resumeStream(_ stream: OriginStream, _ connection: ServerConnection) {
        // The stream may have ended during the wait.
        guard streams[stream.id] === stream else { return }
        switch stream.responseState {
        case .delayed(let response):
            // `answer` sends a response only in this state.
            stream.responseState = .notBegun
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
        case .notBegun, .streaming, .sent: break
        }
    }

    /// Sends a head, and leaves the stream open. Does nothing if the head cannot be encoded.
    func send(_ head: ResponseHead, on stream: OriginStream) {
        guard let list = try? MessageEncoder.response(head, body: .none) else { return }
        // Fails only if the stream has ended. Then no head is needed.
        try? machine.send(list, on: stream.id, endsStream: false)
    }

    /// Sends the head of a response, and queues the stream to send the content.
    private func send(
        _ endpointResponse: OriginResponse, on stream: OriginStream, _ connection: ServerConnection
    ) {
        var response = endpointResponse
        // A successful response to CONNECT would open a web socket or a tunnel, which this endpoint does not provide.
        if stream.method == .connect, response.status.kind == .successful { response = OriginResponse(400) }
        for head in response.interim { send(head, on: stream) }
        do throws(HTTPError) {
            var fields = response.fields
            if !fields.contains(.date) { try fields.append(.date, date.fieldValue().span) }
            let head = ResponseHead(status: response.status, fields: fields)
            try send(head, response.body, on: stream)
        } catch {
            // The endpoint has returned a response that cannot be encoded.
            machine.reset(stream.id, .internalError)
            streams[stream.id] = nil
        }
        // Sends GOAWAY. The connection closes when its open streams have ended.
        if response.closesConnection { machine.shutDown() }
    }

    /// Sends a final head. Ends the stream if no content follows, otherwise queues the stream.
    private func send(
        _ head: ResponseHead, _ body: OriginResponse.Body, on stream: OriginStream
    ) throws(HTTPError) {
        let statusForbidsContent = head.status.code == 204 || head.status.code == 304
        let omitsContent = stream.method == .head || statusForbidsContent
        let bodyLength: OutgoingBody
        switch body {
        case .none: bodyLength = statusForbidsContent ? .none : .known(0)
        case .bytes(let bytes):
            bodyLength = .known(Int64(bytes.count))
            stream.content = bytes
            // Empty trailers end the stream after the content.
            stream.trailers = Fields()
        case .stream(let length, _): bodyLength = length.map { .known($0) } ?? .unknown
        }
        let endsStream: Bool
        if case .stream = body {
            endsStream = omitsContent
        } else {
            endsStream = omitsContent || stream.content.isEmpty
        }
        let list = try MessageEncoder.response(head, body: bodyLength)
        // Fails if the stream has ended.
        do throws(HTTP2SendError) { try machine.send(list, on: stream.id, endsStream: endsStream) } catch {
            streams[stream.id] = nil
            return
        }
        if endsStream {
            stream.responseState = .sent
            return removeIfEnded(stream)
        }
        if case .stream(_, let producer) = body {
            stream.responseState = .streaming(producer)
        } else {
            // All of the content is in `stream.content`.
            stream.responseState = .streaming(nil)
        }
        enqueue(stream)
    }

    /// Adds a stream to the queue of senders, after the streams of the same or a higher urgency.
    func enqueue(_ stream: OriginStream) { senders.add(stream) }

    /// Sends a piece of content of the next stream in the queue. Returns false if no stream has content to send, or the
    /// flow-control windows have no space.
    func sendNext(_ connection: ServerConnection) -> Bool {
        while let stream = senders.popFirst() {
            // The stream may have ended while it was in the queue.
            guard streams[stream.id] === stream else { continue }
            if case .streaming(let producer?) = stream.responseState, !stream.hasContentOrTrailers {
                produce(producer, for: stream, connection)
                if case .streaming = stream.responseState, !stream.hasContentOrTrailers {
                    // The producer has returned an empty piece.
                    enqueue(stream)
                    return true
                }
            }
            // A stream that can send nothing stays out of the queue until it has content, or a window opens.
            if sendContent(of: stream, connection) { return true }
        }
        return false
    }

    /// Obtains the next piece of a streamed response from its producer.
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

    /// Sends a piece of the stream's content, or its trailers. Returns false if there is none, or the flow-control windows have
    /// no space.
    private func sendContent(of stream: OriginStream, _ connection: ServerConnection) -> Bool {
        let remainingCount = stream.content.count - stream.contentStart
        let count = min(remainingCount, stream.scriptProgress?.maximumFrameSize ?? Self.pieceBytes)
        // Trailers that are not empty end the stream in a frame of their own.
        let endsStream = stream.trailers?.isEmpty == true && count == remainingCount
        guard count > 0 || stream.trailers != nil else { return false }
        do throws(HTTP2SendError) {
            if count == 0, let trailers = stream.trailers, !trailers.isEmpty {
                return try sendTrailers(trailers, on: stream)
            }
            // The machine writes the header of a DATA frame, and returns how many octets the windows allow.
            let sentCount = try machine.sendContent(
                count, on: stream.id, endsStream: endsStream, into: &connection.output)
            // Without space in the windows, the stream is queued again when a window opens.
            guard sentCount > 0 || count == 0 else { return false }
            connection.output += stream.content[stream.contentStart..<stream.contentStart + sentCount]
            stream.contentStart += sentCount
            let isContentSent = stream.contentStart == stream.content.count
            if isContentSent {
                stream.content = []
                stream.contentStart = 0
            }
            let hasEndedStream = endsStream && sentCount == count
            if stream.scriptProgress != nil, isContentSent {
                // The `content` step ends when the content is sent and `trailers` is nil.
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
            // The stream has ended.
            remove(stream)
            return true
        }
    }

    /// Ends a stream with its trailers. Returns true, as `sendContent` does when it has made progress.
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
