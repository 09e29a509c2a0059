// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineHTTP2
internal import LupineTransport

/// Serves HTTP/2 on one connection. It sends a piece of each response in turn, the most urgent responses first (RFC 9218).
///
/// Used on its loop only. The endpoints are the same as over HTTP/1.1. An extended CONNECT for a web socket is routed like a GET.
/// A `Script` takes over the whole connection, a `StreamScript` only the stream of its request. While the client does not read,
/// the conversation produces no output.
final class HTTP2Conversation: Conversation {
    /// The maximum number of octets of one stream's content that are sent before the next stream has its turn.
    static let pieceBytes = 16 << 10

    /// The state machine of the connection: it parses frames, and writes all frames except the content of DATA frames.
    var machine: HTTP2Machine
    private let behaviour: HTTP2Behaviour
    /// The streams whose request or response has not ended.
    var streams: [StreamID: OriginStream] = [:]
    /// The streams that may have content to send.
    var senders = SenderQueue()
    /// The urgency in the last PRIORITY_UPDATE for a stream that was not open. The machine reports the frame directly before the
    /// request of the stream.
    private var earlyUrgency: (id: StreamID, urgency: Urgency)?
    /// The number of requests on this connection.
    private var requestCount = 0
    /// Whether the conversation has ended the connection, or a script has taken it over.
    private(set) var isOver = false
    /// Whether a script has performed `fallSilent`: nothing is sent, and input is dropped.
    var isSilent = false
    /// The buffer to which a producer appends the next piece of a response.
    var piece: [UInt8] = []
    var date = CurrentDate()

    /// Creates a conversation whose input begins with the client's preface.
    init(_ behaviour: HTTP2Behaviour, limits: ParserLimits, at now: Instant) {
        self.behaviour = behaviour
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = behaviour.maxConcurrentStreams
        settings.initialWindowSize = behaviour.streamWindow
        settings.headerTableSize = behaviour.headerTableSize
        settings.noRFC7540Priorities = behaviour.announcesPriorities
        settings.enableConnectProtocol = behaviour.acceptsWebSockets
        var machineLimits = HTTP2Limits()
        machineLimits.lists.listOctets = limits.headBytes
        machineLimits.lists.fieldCount = limits.fieldCount
        // The machine counts all times from the zero of the loop's clock.
        machine = HTTP2Machine(
            .server, settings: settings, window: behaviour.connectionWindow, limits: machineLimits,
            at: .nanoseconds(now.nanoseconds))
    }

    var wantsInput: Bool { !isOver }

    // `isWaiting` is true for a stream that may wait for an event other than the client's.
    var awaitsClient: Bool { !streams.values.contains(where: \.isWaiting) }

    /// Does nothing. The connection calls this method only at the end of a `ServerConnection.wait`. The streams use
    /// `ServerConnection.call`, of which several may be pending.
    func resume(_ connection: ServerConnection) {}

    func advance(_ connection: ServerConnection) -> Bool {
        if isSilent { return discardInput(connection) }
        if endIfRenegotiating(connection) { return true }
        var hasProgressed = false
        // Stops parsing while `pieceBytes` octets of frames wait: a client that does not read cannot cause more answers, for
        // example to PING.
        while !isOver, !isSilent, connection.hasOutputRoom, machine.waitingCount < Self.pieceBytes,
            handleNextEvent(connection)
        {
            hasProgressed = true
        }
        while !isOver, !isSilent, connection.hasOutputRoom, sendNext(connection) { hasProgressed = true }
        if !isSilent, connection.hasOutputRoom, machine.waitingCount > 0 {
            machine.takeOutput(into: &connection.output)
            hasProgressed = true
        }
        // A GOAWAY has been sent or received, no streams are left, and all frames are in the output.
        if !isOver, machine.isDrained, machine.waitingCount == 0 {
            end(connection, lingering: false)
            return true
        }
        return hasProgressed
    }

    /// Ends the connection with an error if the client has requested a TLS renegotiation, which HTTP/2 forbids (RFC 9113 §9.2.1).
    /// Returns whether it has ended the connection.
    private func endIfRenegotiating(_ connection: ServerConnection) -> Bool {
        guard !isOver, connection.hasRefusedRenegotiation else { return false }
        // Writes a GOAWAY frame with the error.
        machine.fail(.renegotiation)
        machine.takeOutput(into: &connection.output)
        end(connection, lingering: true)
        return true
    }

    /// Drops the input of a connection that has fallen silent. Ends the connection when the client has closed its half. Returns
    /// false if there was no input.
    private func discardInput(_ connection: ServerConnection) -> Bool {
        let count = connection.inputCount
        connection.consume(count)
        guard connection.hasPeerEnded, !isOver else { return count > 0 }
        end(connection, lingering: false)
        return true
    }

    // MARK: receiving

    /// Parses the next event of the input, and reacts to it. Returns false if the input has no complete event.
    private func handleNextEvent(_ connection: ServerConnection) -> Bool {
        do throws(HTTP2ConnectionError) {
            let now = Duration.nanoseconds(connection.loop.now.nanoseconds)
            let (event, consumed) = try connection.withInput { input throws(HTTP2ConnectionError) in
                try machine.next(input, at: now)
            }
            // Scripts and web sockets receive a copy after the input is consumed, because they may end the connection.
            var copiedContent: (stream: OriginStream, octets: [UInt8])?
            if case .content(let id, let range) = event {
                if let stream = streams[id], stream.scriptProgress != nil || stream.webSocket != nil {
                    var octets: [UInt8] = []
                    connection.withInput { octets.append($0, range) }
                    copiedContent = (stream, octets)
                } else {
                    receiveContent(range, on: id, connection)
                }
            }
            connection.consume(consumed)
            if let (stream, octets) = copiedContent {
                if let webSocket = stream.webSocket {
                    webSocket.receive(octets.span)
                    advanceWebSocket(on: stream)
                } else {
                    receiveContentForScript(octets.span, on: stream, connection)
                }
            }
            switch event {
            case .needMore:
                // The client has closed its half, and all input is consumed.
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
                    remove(stream)
                }
            // Any stream may have space in its windows: settings may change the windows of all streams.
            case .windowOpened, .settings:
                for stream in streams.values.sorted(by: { $0.id < $1.id }) { enqueue(stream) }
            // The origin sends a PING only after it has announced the end of the connection.
            case .pong: machine.shutDown()
            case .priority(let id, let value): reprioritise(id, value, connection)
            // `content` is received above. A server does not receive, or need not react to, the other events.
            case .content, .settingsAcknowledged, .goAway, .interim, .response, .refused: break
            }
            return true
        } catch {
            // The machine has written a GOAWAY frame with the error.
            machine.takeOutput(into: &connection.output)
            end(connection, lingering: true)
            return true
        }
    }

    /// Applies a PRIORITY_UPDATE frame, and records it. `value` is its priority field value.
    private func reprioritise(_ id: StreamID, _ value: [UInt8], _ connection: ServerConnection) {
        connection.service.priorityRecord.add(value, of: id.rawValue, on: connection.number)
        let urgency = Urgency(fieldValue: value.span)
        guard let stream = streams[id] else {
            earlyUrgency = (id, urgency)
            return
        }
        senders.setUrgency(urgency, of: stream)
    }

    /// Passes content to the sink of its stream, and returns its octets to the flow-control windows. `range` is the position of
    /// the content in the connection's input.
    private func receiveContent(_ range: Range<Int>, on id: StreamID, _ connection: ServerConnection) {
        if let stream = streams[id], case .body(let sink) = stream.requestState {
            answer(stream, connection) { () throws(Refusal) in
                try connection.withInput { input throws(Refusal) in try sink.receive(input.extracting(range))
                }
                // The sink responds at the end of the body.
                return nil
            }
        }
        machine.consumed(range.count, on: id)
    }

    /// Ends a request whose content and trailers have arrived.
    private func endRequest(_ id: StreamID, _ trailers: Fields, _ connection: ServerConnection) {
        guard let stream = streams[id] else { return }
        let previousState = stream.requestState
        stream.requestState = .ended
        if case .body(let sink) = previousState {
            answer(stream, connection) { () throws(Refusal) in try sink.finish(trailers: trailers) }
        }
        if stream.scriptProgress != nil { runScript(stream, connection) }
        stream.webSocket?.hasPeerEnded = true
        advanceWebSocket(on: stream)
        removeIfEnded(stream)
    }

    /// Creates the stream of a request, and serves the request.
    private func beginRequest(_ id: StreamID, _ received: ReceivedRequest, _ connection: ServerConnection) {
        connection.service.counts.countRequest()
        requestCount += 1
        if requestCount == behaviour.requestsPerConnection {
            machine.announceShutdown()
            // When the client has acknowledged the PING (with the payload 0), it has received this GOAWAY. Then the final GOAWAY
            // is sent.
            machine.sendPing(0)
        }
        let stream = OriginStream(id, received.head.method)
        streams[id] = stream
        let fieldUrgency = received.head.fields.withFirstValue(of: .priority) { Urgency(fieldValue: $0) }
        // A PRIORITY_UPDATE frame overrides the `Priority` field (RFC 9218 §7).
        let frameUrgency = earlyUrgency?.id == id ? earlyUrgency?.urgency : nil
        stream.urgency = frameUrgency ?? fieldUrgency ?? .normal
        var head = received.head
        // The `:protocol` of an extended CONNECT (RFC 8441), which is routed like a GET.
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
            // An endpoint for which `serveWebSocket` returns false answers an extended CONNECT like a GET.
            if received.protocol != nil, serveWebSocket(endpoint, request, stream, connection) { return }
            serve(endpoint, request, received.contentLength, stream, connection)
        case .otherMethods(let methods):
            answer(stream, connection) { () throws(Refusal) in
                var response = try OriginResponse(
                    405, json: .object([("error", .string("method not allowed"))]))
                try response.add(.allow, methods.joined(separator: ", "))
                return response
            }
        case .notFound:
            answer(stream, connection) { () throws(Refusal) in throw Refusal(404, "nothing is here") }
        }
    }

    /// Serves a request with its endpoint. `length` is the request's `Content-Length`.
    private func serve(
        _ endpoint: Endpoint, _ request: OriginRequest, _ length: Int64?, _ stream: OriginStream,
        _ connection: ServerConnection
    ) {
        switch endpoint {
        case .immediate(let handler):
            answer(stream, connection) { () throws(Refusal) in try handler(request) }
        case .collected(let handler):
            let limit = connection.service.configuration.maximumCollectedBytes
            if let length, length > Int64(limit) {
                let refusal = Refusal(413, "this path takes bodies of at most \(limit) bytes")
                return answer(stream, connection) { () throws(Refusal) in throw refusal }
            }
            receiveBody(of: request, with: CollectingSink(request, limit: limit, handler), stream)
        case .streamed(let makeSink):
            answer(stream, connection) { () throws(Refusal) in
                receiveBody(of: request, with: try makeSink(request), stream)
                // The sink responds at the end of the body.
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

    /// Serves an extended CONNECT (RFC 8441) if the endpoint is `webSocket` or `collected`. A `collected` endpoint answers
    /// without the content, which ends only when the client ends the stream. Returns false if the endpoint is of another kind,
    /// which answers an extended CONNECT like a GET.
    private func serveWebSocket(
        _ endpoint: Endpoint, _ request: OriginRequest, _ stream: OriginStream, _ connection: ServerConnection
    ) -> Bool {
        switch endpoint {
        case .webSocket(let makeBehaviour):
            answer(stream, connection) { () throws(Refusal) in
                try acceptWebSocket(makeBehaviour(request), request.head, on: stream)
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
        stream.requestState = .body(sink)
        let expectsContinue = request.head.fields.withFirstValue(of: .expect) {
            $0.equals(lowercased: "100-continue", in: $0.indices)
        }
        if expectsContinue == true { send(ResponseHead(status: Status(100)), on: stream) }
    }

    /// Follows the next script of a plan, or closes the connection if the plan decides so.
    private func followNextScript(of plan: ScriptPlan, _ connection: ServerConnection) {
        switch plan.nextDecision() {
        case .follow(let script): follow(script, connection)
        case .refuse, .stopListening: end(connection, lingering: false)
        }
    }

    /// Replaces this conversation by one that follows a script.
    func follow(_ script: Script, _ connection: ServerConnection) {
        machine.takeOutput(into: &connection.output)
        isOver = true
        connection.replaceConversation(with: ScriptConversation(script))
    }

    /// Ends the conversation and the connection. With `lingering`, the connection first reads and drops what the client still
    /// sends.
    func end(_ connection: ServerConnection, lingering: Bool) {
        isOver = true
        for stream in streams.values { abandonScript(of: stream, connection) }
        streams = [:]
        senders = SenderQueue()
        connection.finish(lingering: lingering)
    }

    /// Removes the stream if both its request and its response have ended.
    func removeIfEnded(_ stream: OriginStream) {
        if case .sent = stream.responseState, case .ended = stream.requestState { remove(stream) }
    }

    /// Removes a stream that has ended, and returns its unconsumed content to the connection's window. Has no effect if the
    /// stream is already removed.
    func remove(_ stream: OriginStream) {
        guard streams[stream.id] === stream else { return }
        streams[stream.id] = nil
        // Only a stream with a script or a web socket may have unconsumed content.
        if let unconsumedOctets = stream.scriptProgress?.unconsumedOctets ?? stream.webSocket?.inputCount {
            machine.consumed(unconsumedOctets, on: stream.id)
        }
    }
}
