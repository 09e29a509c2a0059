// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineHTTP2
internal import LupineTransport

/// Serves HTTP/2 on one connection. It sends a piece of each response in turn, the most urgent ones first (RFC 9218).
///
/// Used on its loop only. The endpoints are the same as over HTTP/1.1. An extended CONNECT for a web socket is routed like a GET.
/// An endpoint that follows a `Script` takes over the whole connection, one that performs a `StreamScript` only its stream.
/// While the client does not read, no output is produced.
final class HTTP2Conversation: Conversation {
    private static let pieceBytes = 16 << 10

    var machine: HTTP2Machine
    private let behaviour: HTTP2Behaviour
    private(set) var streams: [StreamID: OriginStream] = [:]
    /// The queue of streams that may have content to send: sorted by urgency; streams of equal urgency take turns.
    private var senders: [OriginStream] = []
    /// The urgency in the last PRIORITY_UPDATE for a stream that was not open. The machine reports it right before the request.
    private var earlyUrgency: (id: StreamID, urgency: Urgency)?
    private var requests = 0
    private(set) var isOver = false
    /// Whether a script has silenced the connection: nothing is sent, and input is dropped.
    var isSilent = false
    private var piece: [UInt8] = []
    private var date = CurrentDate()

    /// Creates a conversation whose input begins with the client's preface.
    init(_ behaviour: HTTP2Behaviour, limits: ParserLimits, at now: Instant) {
        self.behaviour = behaviour
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = behaviour.streams
        settings.initialWindowSize = behaviour.streamWindow
        settings.headerTableSize = behaviour.headerTable
        settings.noRFC7540Priorities = behaviour.announcesPriorities
        settings.enableConnectProtocol = behaviour.acceptsWebSockets
        var bounds = HTTP2Limits()
        bounds.lists.listOctets = limits.headBytes
        bounds.lists.fieldCount = limits.fieldCount
        machine = HTTP2Machine(
            .server, settings: settings, window: behaviour.connectionWindow, limits: bounds,
            at: .nanoseconds(now.nanoseconds))
    }

    var wantsInput: Bool { !isOver }

    var awaitsClient: Bool { !streams.values.contains(where: \.isWaiting) }

    func resume(_ connection: ServerConnection) {}

    func advance(_ connection: ServerConnection) -> Bool {
        if isSilent { return drop(connection) }
        if endIfRenegotiating(connection) { return true }
        var progress = false
        while !isOver, !isSilent, connection.hasRoom, machine.waitingCount < Self.pieceBytes,
            handleNextEvent(connection)
        {
            progress = true
        }
        while !isOver, !isSilent, connection.hasRoom, sendNext(connection) { progress = true }
        if !isSilent, connection.hasRoom, machine.waitingCount > 0 {
            machine.takeOutput(into: &connection.output)
            progress = true
        }
        if !isOver, machine.isDrained, machine.waitingCount == 0 {
            end(connection, lingering: false)
            return true
        }
        return progress
    }

    /// Fails the connection if the client has requested a TLS renegotiation, which HTTP/2 forbids (RFC 9113 §9.2.1).
    private func endIfRenegotiating(_ connection: ServerConnection) -> Bool {
        guard !isOver, connection.hasRefusedRenegotiation else { return false }
        machine.fail(.renegotiation)
        machine.takeOutput(into: &connection.output)
        end(connection, lingering: true)
        return true
    }

    /// Drops the input of a silenced connection, and ends it when the client does. Returns false if there was no input.
    private func drop(_ connection: ServerConnection) -> Bool {
        let count = connection.inputCount
        connection.consume(count)
        guard connection.hasPeerEnded, !isOver else { return count > 0 }
        end(connection, lingering: false)
        return true
    }

    // MARK: receiving

    /// Handles one event of the input. Returns false if there is none.
    private func handleNextEvent(_ connection: ServerConnection) -> Bool {
        do throws(HTTP2ConnectionError) {
            let now = Duration.nanoseconds(connection.loop.now.nanoseconds)
            let (event, consumed) = try connection.withInput { input throws(HTTP2ConnectionError) in
                try machine.next(input, at: now)
            }
            var scripted: (stream: OriginStream, octets: [UInt8])?
            if case .content(let id, let range) = event {
                if let stream = streams[id], stream.scriptProgress != nil || stream.socket != nil {
                    var octets: [UInt8] = []
                    connection.withInput { octets.append($0, range) }
                    scripted = (stream, octets)
                } else {
                    receiveContent(range, on: id, connection)
                }
            }
            connection.consume(consumed)
            if let (stream, octets) = scripted {
                if let socket = stream.socket {
                    socket.receive(octets.span)
                    advanceWebSocket(on: stream)
                } else {
                    receiveScripted(octets.span, on: stream, connection)
                }
            }
            switch event {
            case .needMore:
                if connection.hasPeerEnded, connection.inputCount == 0 {
                    end(connection, lingering: false)
                    return true
                }
                return consumed > 0
            case .request(let id, let request): beginRequest(id, request, connection)
            case .end(let id, let trailers): endRequest(id, trailers, connection)
            case .reset(let id, _), .failed(let id, _):
                if let stream = streams[id] {
                    abandonScript(of: stream, connection)
                    forget(stream)
                }
            case .windowOpened, .settings:
                for stream in streams.values.sorted(by: { $0.id < $1.id }) { enqueue(stream) }
            case .pong: machine.shutDown()
            case .priority(let id, let value): reprioritise(id, value, connection)
            case .content, .settingsAcknowledged, .goAway, .interim, .response, .refused: break
            }
            return true
        } catch {
            machine.takeOutput(into: &connection.output)
            end(connection, lingering: true)
            return true
        }
    }

    /// Applies a PRIORITY_UPDATE frame.
    private func reprioritise(_ id: StreamID, _ value: [UInt8], _ connection: ServerConnection) {
        connection.service.priorities.add(value, of: id.rawValue, on: connection.number)
        let urgency = Urgency(fieldValue: value.span)
        guard let stream = streams[id] else {
            earlyUrgency = (id, urgency)
            return
        }
        stream.urgency = urgency
        guard stream.isQueued else { return }
        senders.removeAll { $0 === stream }
        stream.isQueued = false
        enqueue(stream)
    }

    /// Passes content in the connection's input to the sink of its stream, and returns it to the windows.
    private func receiveContent(_ range: Range<Int>, on id: StreamID, _ connection: ServerConnection) {
        if let stream = streams[id], case .body(let sink) = stream.intake {
            answer(stream, connection) { () throws(Refusal) in
                try connection.withInput { input throws(Refusal) in try sink.receive(input.extracting(range))
                }
                return nil
            }
        }
        machine.consumed(range.count, on: id)
    }

    /// Called at the end of a request's content.
    private func endRequest(_ id: StreamID, _ trailers: Fields, _ connection: ServerConnection) {
        guard let stream = streams[id] else { return }
        let previousIntake = stream.intake
        stream.intake = .ended
        if case .body(let sink) = previousIntake {
            answer(stream, connection) { () throws(Refusal) in try sink.finish(trailers: trailers) }
        }
        if stream.scriptProgress != nil { runScript(stream, connection) }
        stream.socket?.hasPeerEnded = true
        advanceWebSocket(on: stream)
        forgetIfEnded(stream)
    }

    /// Creates the stream of a request, and serves the request.
    private func beginRequest(_ id: StreamID, _ received: ReceivedRequest, _ connection: ServerConnection) {
        connection.service.counts.countRequest()
        requests += 1
        if requests == behaviour.requestsPerConnection {
            machine.announceShutdown()
            // The acknowledgement shows that the client has received this GOAWAY; the final one is sent then.
            machine.sendPing(0)
        }
        let stream = OriginStream(id, received.head.method)
        streams[id] = stream
        let fieldUrgency = received.head.fields.withFirstValue(of: .priority) { Urgency(fieldValue: $0) }
        // The frame overrides the field (RFC 9218 §7).
        let frameUrgency = earlyUrgency?.id == id ? earlyUrgency?.urgency : nil
        stream.urgency = frameUrgency ?? fieldUrgency ?? .normal
        var head = received.head
        if let name = received.protocol {
            guard name == "websocket" else {
                return answer(stream, connection) { () throws(Refusal) in
                    throw Refusal(501, "\(name) is not spoken here")
                }
            }
            head.method = .get
        }
        var request = OriginRequest(
            head, peer: connection.peer, connection: connection.number, tls: connection.tls)
        switch connection.service.match(head.method.rawValue, request.path) {
        case .endpoint(let endpoint, let parameters):
            request.parameters = parameters
            if received.protocol != nil, serveWebSocket(endpoint, request, stream, connection) { return }
            serve(endpoint, request, received.contentLength, stream, connection)
        case .otherMethods(let methods):
            answer(stream, connection) { () throws(Refusal) in
                var response = try OriginResponse(
                    405, json: .object([("error", .string("method not allowed"))]))
                try response.add(.allow, methods.joined(separator: ", "))
                return response
            }
        case .nothing:
            answer(stream, connection) { () throws(Refusal) in throw Refusal(404, "nothing is here") }
        }
    }

    private func serve(
        _ endpoint: Endpoint, _ request: OriginRequest, _ length: Int64?, _ stream: OriginStream,
        _ connection: ServerConnection
    ) {
        switch endpoint {
        case .immediate(let handler):
            answer(stream, connection) { () throws(Refusal) in try handler(request) }
        case .collected(let handler):
            let limit = connection.service.configuration.collectedBytes
            if let length, length > Int64(limit) {
                let refusal = Refusal(413, "this path takes bodies of at most \(limit) bytes")
                return answer(stream, connection) { () throws(Refusal) in throw refusal }
            }
            receiveBody(of: request, with: CollectingSink(request, limit: limit, handler), stream)
        case .streamed(let maker):
            answer(stream, connection) { () throws(Refusal) in
                receiveBody(of: request, with: try maker(request), stream)
                return nil
            }
        case .webSocket:
            answer(stream, connection) { () throws(Refusal) in
                throw Refusal(400, "over HTTP/2 a web socket begins with an extended CONNECT")
            }
        case .script(let plan): followNextScript(of: plan, connection)
        case .chosen(let choose):
            answer(stream, connection) { () throws(Refusal) in
                switch try choose(request) {
                case .respond(let response): return response
                case .follow(let script):
                    follow(script, connection)
                    return nil
                case .perform(let script):
                    startScript(script, on: stream, connection)
                    return nil
                }
            }
        }
    }

    /// Answers an extended CONNECT if the endpoint is `webSocket` or `collected`. A `collected` endpoint is answered without
    /// waiting for the content, which ends only with the client's half. Returns false for endpoints that answer it like a GET.
    private func serveWebSocket(
        _ endpoint: Endpoint, _ request: OriginRequest, _ stream: OriginStream, _ connection: ServerConnection
    ) -> Bool {
        switch endpoint {
        case .webSocket(let behaviour):
            answer(stream, connection) { () throws(Refusal) in
                try acceptWebSocket(behaviour(request), request.head, on: stream)
            }
        case .collected(let handler):
            answer(stream, connection) { () throws(Refusal) in try handler(request) }
        case .immediate, .streamed, .script, .chosen: return false
        }
        return true
    }

    /// Starts passing the request's body to `sink`. Sends 100 Continue if the client expects it.
    private func receiveBody(
        of request: OriginRequest, with sink: any BodySink, _ stream: OriginStream
    ) {
        stream.intake = .body(sink)
        let expectsContinue = request.head.fields.withFirstValue(of: .expect) {
            $0.equals(lowercased: "100-continue", in: $0.indices)
        }
        if expectsContinue == true { send(ResponseHead(status: Status(100)), on: stream) }
    }

    private func followNextScript(of plan: ScriptPlan, _ connection: ServerConnection) {
        switch plan.next() {
        case .follow(let script): follow(script, connection)
        case .refuse, .stopListening: end(connection, lingering: false)
        }
    }

    /// Passes the whole connection to a script.
    private func follow(_ script: Script, _ connection: ServerConnection) {
        machine.takeOutput(into: &connection.output)
        isOver = true
        connection.replaceConversation(with: ScriptConversation(script))
    }

    /// Ends the conversation and the connection. `lingering`: the client may still be sending.
    func end(_ connection: ServerConnection, lingering: Bool) {
        isOver = true
        for stream in streams.values { abandonScript(of: stream, connection) }
        streams = [:]
        senders = []
        connection.finish(lingering: lingering)
    }

    // MARK: sending

    /// Sends the response that `body` returns, if any. If `body` throws, sends the refusal, and drops the rest of the request's
    /// body.
    private func answer(
        _ stream: OriginStream, _ connection: ServerConnection,
        _ body: () throws(Refusal) -> OriginResponse?
    ) {
        let response: OriginResponse?
        do throws(Refusal) {
            response = try body()
        } catch {
            if case .body = stream.intake { stream.intake = .discarding }
            let refusal = try? OriginResponse(
                error.status, json: .object([("error", .string(error.message))]))
            response = refusal ?? OriginResponse(error.status)
        }
        guard let response, case .none = stream.reply else { return }
        if let gate = response.gate {
            stream.reply = .delayed(response)
            connection.call(when: gate, resumption(stream, connection))
        } else if let delay = response.delay {
            stream.reply = .delayed(response)
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
        switch stream.reply {
        case .delayed(let response):
            stream.reply = .none
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
            stream.reply = .streaming(producer)
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
        if response.closes { machine.shutDown() }
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
            stream.reply = .sent
            return forgetIfEnded(stream)
        }
        if case .stream(_, let producer) = body {
            stream.reply = .streaming(producer)
        } else {
            stream.reply = .streaming(nil)
        }
        enqueue(stream)
    }

    /// Adds a stream to the queue of senders, after the streams of the same or a higher urgency.
    func enqueue(_ stream: OriginStream) {
        guard !stream.isQueued else { return }
        stream.isQueued = true
        let previous = senders.lastIndex { $0.urgency <= stream.urgency }
        senders.insert(stream, at: previous.map { $0 + 1 } ?? 0)
    }

    /// Sends a piece of the next stream in the queue. Returns false if no stream can send.
    private func sendNext(_ connection: ServerConnection) -> Bool {
        while !senders.isEmpty {
            let stream = senders.removeFirst()
            stream.isQueued = false
            guard streams[stream.id] === stream else { continue }
            if case .streaming(let producer?) = stream.reply, stream.content.isEmpty, stream.trailers == nil {
                produce(producer, for: stream, connection)
                if case .streaming = stream.reply, stream.content.isEmpty, stream.trailers == nil {
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
            stream.reply = .paused(producer)
            connection.call(after: delay, resumption(stream, connection))
        case .wait(let gate):
            stream.reply = .paused(producer)
            connection.call(when: gate, resumption(stream, connection))
        case .end(let trailers): stream.trailers = trailers
        }
    }

    /// Sends a piece of the stream's content. Returns false if there is none, or the windows have no space.
    private func sendContent(of stream: OriginStream, _ connection: ServerConnection) -> Bool {
        let remaining = stream.content.count - stream.contentStart
        let count = min(remaining, stream.scriptProgress?.frameSize ?? Self.pieceBytes)
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
                stream.reply = .sent
                forgetIfEnded(stream)
            } else if isContentSent, stream.socket != nil {
                advanceWebSocket(on: stream)
            } else {
                enqueue(stream)
            }
            return true
        } catch {
            forget(stream)
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
        stream.reply = .sent
        forgetIfEnded(stream)
        return true
    }

    /// Removes the stream if both its request and its response have ended.
    func forgetIfEnded(_ stream: OriginStream) {
        if case .sent = stream.reply, case .ended = stream.intake { forget(stream) }
    }

    /// Removes a stream that has ended, and returns its unconsumed content to the connection's window.
    func forget(_ stream: OriginStream) {
        guard streams[stream.id] === stream else { return }
        streams[stream.id] = nil
        if let unconsumed = stream.scriptProgress?.unconsumed ?? stream.socket?.inputCount {
            machine.consumed(unconsumed, on: stream.id)
        }
    }
}
