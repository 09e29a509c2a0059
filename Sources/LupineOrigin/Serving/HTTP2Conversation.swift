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
    /// The maximum number of content octets that are sent of a stream before the next stream has its turn.
    static let pieceBytes = 16 << 10

    var machine: HTTP2Machine
    private let behaviour: HTTP2Behaviour
    var streams: [StreamID: OriginStream] = [:]
    /// The streams that may have content to send.
    var senders = SenderQueue()
    /// The urgency in the last PRIORITY_UPDATE for a stream that was not open. The machine reports it right before the request.
    private var earlyUrgency: (id: StreamID, urgency: Urgency)?
    private var requests = 0
    private(set) var isOver = false
    /// Whether a script has silenced the connection: nothing is sent, and input is dropped.
    var isSilent = false
    /// The buffer in which a producer makes the next piece of a response.
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
        while !isOver, !isSilent, connection.hasOutputRoom, machine.waitingCount < Self.pieceBytes,
            handleNextEvent(connection)
        {
            progress = true
        }
        while !isOver, !isSilent, connection.hasOutputRoom, sendNext(connection) { progress = true }
        if !isSilent, connection.hasOutputRoom, machine.waitingCount > 0 {
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
                if let stream = streams[id], stream.scriptProgress != nil || stream.webSocket != nil {
                    var octets: [UInt8] = []
                    connection.withInput { octets.append($0, range) }
                    scripted = (stream, octets)
                } else {
                    receiveContent(range, on: id, connection)
                }
            }
            connection.consume(consumed)
            if let (stream, octets) = scripted {
                if let webSocket = stream.webSocket {
                    webSocket.receive(octets.span)
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
                    remove(stream)
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
        connection.service.priorityRecord.add(value, of: id.rawValue, on: connection.number)
        let urgency = Urgency(fieldValue: value.span)
        guard let stream = streams[id] else {
            earlyUrgency = (id, urgency)
            return
        }
        senders.setUrgency(urgency, of: stream)
    }

    /// Passes content in the connection's input to the sink of its stream, and returns it to the windows.
    private func receiveContent(_ range: Range<Int>, on id: StreamID, _ connection: ServerConnection) {
        if let stream = streams[id], case .body(let sink) = stream.requestState {
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
        case .notFound:
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
            let limit = connection.service.configuration.maximumCollectedBytes
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
        stream.requestState = .body(sink)
        let expectsContinue = request.head.fields.withFirstValue(of: .expect) {
            $0.equals(lowercased: "100-continue", in: $0.indices)
        }
        if expectsContinue == true { send(ResponseHead(status: Status(100)), on: stream) }
    }

    private func followNextScript(of plan: ScriptPlan, _ connection: ServerConnection) {
        switch plan.nextDecision() {
        case .follow(let script): follow(script, connection)
        case .refuse, .stopListening: end(connection, lingering: false)
        }
    }

    /// Passes the whole connection to a script.
    func follow(_ script: Script, _ connection: ServerConnection) {
        machine.takeOutput(into: &connection.output)
        isOver = true
        connection.replaceConversation(with: ScriptConversation(script))
    }

    /// Ends the conversation and the connection. `lingering`: the client may still be sending.
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

    /// Removes a stream that has ended, and returns its unconsumed content to the connection's window.
    func remove(_ stream: OriginStream) {
        guard streams[stream.id] === stream else { return }
        streams[stream.id] = nil
        if let unconsumed = stream.scriptProgress?.unconsumedOctets ?? stream.webSocket?.inputCount {
            machine.consumed(unconsumed, on: stream.id)
        }
    }
}
