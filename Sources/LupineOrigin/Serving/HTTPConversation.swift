// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Serves HTTP/1.1 on one connection, one request at a time: the next one begins when the response has been produced.
///
/// Used on its loop only. Request and response progress independently: if a response ends before its request's body does, the
/// remaining body is read and dropped. While the client does not read, no output is produced and no request begins, so a slow
/// client costs a fixed amount of memory.
final class HTTPConversation: Conversation {
    /// The state of the request.
    private enum Intake {
        case awaitingHead
        case body(any BodySink)
        case discarding
        case ended
    }

    /// The state of the response.
    private enum Reply {
        case none
        /// The response waits for its delay or its gate.
        case delayed(OriginResponse)
        case streaming((inout [UInt8], Int) -> OriginResponse.Continuation)
        /// A streamed response pauses between two pieces.
        case paused((inout [UInt8], Int) -> OriginResponse.Continuation)
        case sent
        /// Nothing more is sent on this connection by this conversation.
        case over
    }

    /// Bodies up to this size are copied into the output after their head; longer ones are sent without copying.
    private static let copiedBytes = 16 << 10
    private static let pieceBytes = 16 << 10

    private var codec: ServerCodec
    private var intake = Intake.awaitingHead
    private var reply = Reply.none
    private var piece: [UInt8] = []
    private var date = CurrentDate()

    /// Creates the conversation of a new connection.
    init(limits: ParserLimits) { codec = ServerCodec(limits: limits) }

    var wantsInput: Bool { if case .over = reply { false } else { true } }

    var awaitsClient: Bool {
        switch reply {
        case .delayed, .paused: false
        case .none, .streaming, .sent, .over: true
        }
    }

    func resume(_ connection: ServerConnection) {
        switch reply {
        case .delayed(let response):
            guard let choose = response.choice else { return send(response, connection) }
            reply = .none
            answer(connection) { () throws(Refusal) in try carryOut(choose(), connection) }
        case .paused(let producer): reply = .streaming(producer)
        case .none, .streaming, .sent, .over: break
        }
    }

    func advance(_ connection: ServerConnection) -> Bool {
        var progress = false
        while connection.hasRoom {
            var hasMoved = false
            if case .streaming(let producer) = reply {
                produce(producer, connection)
                hasMoved = true
            }
            if handleNextEvent(connection) { hasMoved = true }
            if case .over = reply { return true }
            guard hasMoved else { return progress }
            progress = true
        }
        return progress
    }

    // MARK: receiving

    /// Handles one event of the input. Returns false if there is none.
    private func handleNextEvent(_ connection: ServerConnection) -> Bool {
        do throws(HTTPError) {
            let (event, consumed) = try connection.withInput { input throws(HTTPError) in
                try codec.next(input)
            }
            switch event {
            case .needMore:
                connection.consume(consumed)
                guard connection.hasPeerEnded, connection.inputCount == 0 else { return false }
                return try handlePeerEnd(connection)
            case .head(let head, let framing, _):
                connection.consume(consumed)
                beginRequest(head, framing, connection)
            case .content(let range):
                if case .body(let sink) = intake {
                    answer(connection) { () throws(Refusal) in
                        try connection.withInput { input throws(Refusal) in
                            try sink.receive(input.extracting(range))
                        }
                        return nil
                    }
                }
                connection.consume(consumed)
            case .end(let trailers):
                connection.consume(consumed)
                let previousIntake = intake
                intake = .ended
                if case .body(let sink) = previousIntake {
                    answer(connection) { () throws(Refusal) in try sink.finish(trailers: trailers) }
                }
                concludeIfEnded(connection)
            }
            return true
        } catch {
            refuse(error, connection)
            return true
        }
    }

    /// Called when the client has closed its half and all input is consumed. Returns false if a response is still to be sent.
    private func handlePeerEnd(_ connection: ServerConnection) throws(HTTPError) -> Bool {
        try codec.peerClosed()
        switch (intake, reply) {
        case (.awaitingHead, _), (_, .sent):
            reply = .over
            connection.finish(lingering: false)
            return true
        case (_, .none), (_, .delayed), (_, .streaming), (_, .paused), (_, .over):
            return false
        }
    }

    /// Serves a request whose head has arrived.
    private func beginRequest(_ head: RequestHead, _ framing: BodyFraming, _ connection: ServerConnection) {
        connection.service.counts.countRequest()
        reply = .none
        intake = .discarding
        var request = OriginRequest(
            head, peer: connection.peer, connection: connection.number, tls: connection.tls)
        switch connection.service.match(head.method.rawValue, request.path) {
        case .endpoint(let endpoint, let parameters):
            request.parameters = parameters
            let found = request
            switch endpoint {
            case .immediate(let handler):
                answer(connection) { () throws(Refusal) in try handler(found) }
            case .collected(let handler):
                let limit = connection.service.configuration.collectedBytes
                if case .length(let length) = framing, length > Int64(limit) {
                    let refusal = Refusal(413, "this path takes bodies of at most \(limit) bytes")
                    return answer(connection) { () throws(Refusal) in throw refusal }
                }
                if framing == .none {
                    return answer(connection) { () throws(Refusal) in try handler(found) }
                }
                receiveBody(with: CollectingSink(found, limit: limit, handler), connection)
            case .streamed(let maker):
                answer(connection) { () throws(Refusal) in
                    receiveBody(with: try maker(found), connection)
                    return nil
                }
            case .webSocket(let behaviour):
                answer(connection) { () throws(Refusal) in
                    try acceptWebSocket(with: try behaviour(found), found.head, connection)
                }
            case .script(let plan):
                followNextScript(of: plan, connection)
            case .chosen(let choose):
                answer(connection) { () throws(Refusal) in try carryOut(choose(found), connection) }
            }
        case .otherMethods(let methods):
            answer(connection) { () throws(Refusal) in
                var response = try OriginResponse(
                    405, json: .object([("error", .string("method not allowed"))]))
                try response.add(.allow, methods.joined(separator: ", "))
                return response
            }
        case .nothing:
            answer(connection) { () throws(Refusal) in throw Refusal(404, "nothing is here") }
        }
    }

    /// Starts passing the request's body to `sink`. Sends 100 Continue if the client expects it.
    private func receiveBody(with sink: any BodySink, _ connection: ServerConnection) {
        intake = .body(sink)
        guard codec.continueIsExpected else { return }
        // Writing an interim head without fields cannot fail.
        try? codec.sendInterim(ResponseHead(status: Status(100)), into: &connection.output)
    }

    /// Accepts a web socket, which takes over the connection. Returns the refusal if its request is not valid.
    private func acceptWebSocket(
        with behaviour: WebSocketBehaviour, _ head: RequestHead, _ connection: ServerConnection
    ) throws(Refusal) -> OriginResponse? {
        let acceptance: WebSocketServerHandshake
        do throws(WebSocketError) {
            acceptance = try WebSocketServerHandshake(
                head, subprotocols: behaviour.subprotocols, allowsCompression: behaviour.deflates)
        } catch { return OriginResponse(refusing: error) }
        do throws(HTTPError) {
            try codec.send(acceptance.response, body: .none, into: &connection.output)
        } catch { throw .badRequest(error.description) }
        reply = .over
        connection.replaceConversation(with: WebSocketEcho(behaviour, acceptance.agreement))
        return nil
    }

    /// Carries out a choice. Returns its response, if it has one.
    private func carryOut(
        _ choice: EndpointChoice, _ connection: ServerConnection
    ) throws(Refusal) -> OriginResponse? {
        switch choice {
        case .respond(let response): return response
        case .follow(let script):
            follow(script, connection)
            return nil
        case .perform: throw .badRequest("streams are those of HTTP/2")
        }
    }

    private func followNextScript(of plan: ScriptPlan, _ connection: ServerConnection) {
        switch plan.next() {
        case .follow(let script): follow(script, connection)
        case .refuse, .stopListening:
            reply = .over
            connection.finish(lingering: false)
        }
    }

    /// Passes the connection to a script.
    private func follow(_ script: Script, _ connection: ServerConnection) {
        reply = .over
        connection.replaceConversation(with: ScriptConversation(script))
    }

    // MARK: sending

    /// Sends the response that `body` returns, if any. If `body` throws, sends the refusal, and drops the rest of the request's
    /// body.
    private func answer(
        _ connection: ServerConnection, _ body: () throws(Refusal) -> OriginResponse?
    ) {
        let response: OriginResponse?
        do throws(Refusal) {
            response = try body()
        } catch {
            if case .body = intake { intake = .discarding }
            var refusal = try? OriginResponse(
                error.status, json: .object([("error", .string(error.message))]))
            // The rest of the body may be endless.
            if error.status == 413 { refusal?.closes = true }
            response = refusal ?? OriginResponse(error.status)
        }
        guard let response else { return }
        guard case .none = reply else { return }
        if let gate = response.gate {
            reply = .delayed(response)
            connection.wait(for: gate)
        } else if let delay = response.delay {
            reply = .delayed(response)
            connection.wait(for: delay)
        } else {
            send(response, connection)
        }
    }

    private func send(_ response: OriginResponse, _ connection: ServerConnection) {
        do throws(HTTPError) {
            try encode(response, connection)
        } catch {
            // The endpoint made a response that cannot be encoded; a part of it may have been sent.
            reply = .over
            connection.finish(lingering: true)
        }
    }

    /// Writes a response to the output: the whole of it, or the head of a streamed one.
    private func encode(_ response: OriginResponse, _ connection: ServerConnection) throws(HTTPError) {
        for head in response.interim { try codec.sendInterim(head, into: &connection.output) }
        var fields = response.fields
        if !fields.contains(.date) { try fields.append(.date, date.value().span) }
        let head = ResponseHead(status: response.status, reason: response.reason, fields: fields)
        // A client that did not receive 100 Continue may or may not send its body, so the next octets would be ambiguous.
        let closes = response.closes || codec.continueIsExpected
        switch response.body {
        case .none:
            try codec.send(head, body: .none, close: closes, into: &connection.output)
            reply = .sent
        case .bytes(let bytes):
            guard !bytes.isEmpty else {
                try codec.send(head, body: .none, close: closes, into: &connection.output)
                reply = .sent
                break
            }
            try codec.send(head, body: .known(Int64(bytes.count)), close: closes, into: &connection.output)
            try codec.sendContent(bytes.count, into: &connection.output)
            if !codec.omitsContent {
                if bytes.count <= Self.copiedBytes {
                    connection.output += bytes
                } else {
                    connection.send(tail: bytes)
                }
            }
            try codec.sendEnd(into: &connection.output)
            reply = .sent
        case .stream(let length, let producer):
            let body = length.map { OutgoingBody.known($0) } ?? .unknown
            try codec.send(head, body: body, close: closes, into: &connection.output)
            if codec.omitsContent {
                try codec.sendEnd(into: &connection.output)
                reply = .sent
            } else {
                reply = .streaming(producer)
            }
        }
        concludeIfEnded(connection)
    }

    /// Sends the next piece of a streamed response.
    private func produce(
        _ producer: @escaping (inout [UInt8], Int) -> OriginResponse.Continuation,
        _ connection: ServerConnection
    ) {
        piece.removeAll(keepingCapacity: true)
        let continuation = producer(&piece, Self.pieceBytes)
        do throws(HTTPError) {
            if !piece.isEmpty {
                try codec.sendContent(piece.count, into: &connection.output)
                connection.output += piece
            }
            switch continuation {
            case .more: break
            case .pause(let delay):
                reply = .paused(producer)
                connection.wait(for: delay)
            case .wait(let gate):
                reply = .paused(producer)
                connection.wait(for: gate)
            case .end(let trailers):
                try codec.sendEnd(trailers: trailers, into: &connection.output)
                reply = .sent
                concludeIfEnded(connection)
            }
        } catch {
            reply = .over
            connection.finish(lingering: true)
        }
    }

    /// Called when a request or a response ends. When both have ended, closes the connection or awaits the next request. Closes a
    /// connection that cannot be reused as soon as its response has ended.
    private func concludeIfEnded(_ connection: ServerConnection) {
        guard case .sent = reply else { return }
        if !codec.mayContinue {
            reply = .over
            let hasRequestEnded = if case .ended = intake { true } else { false }
            connection.finish(lingering: !hasRequestEnded || connection.inputCount > 0)
        } else if case .ended = intake {
            intake = .awaitingHead
        }
    }

    /// Answers a malformed request, unless a response has begun, and closes the connection.
    private func refuse(_ error: HTTPError, _ connection: ServerConnection) {
        let status =
            switch error {
            case .limitExceeded: 431
            case .unsupportedVersion, .http2Preface: 505
            default: 400
            }
        if case .truncated = error {
            reply = .over
            return connection.finish(lingering: false)
        }
        switch (intake, reply) {
        case (.awaitingHead, _), (_, .none):
            reply = .none
            intake = .discarding
            answer(connection) { () throws(Refusal) in throw Refusal(status, error.description) }
            if case .over = reply { return }
        case (_, .delayed), (_, .streaming), (_, .paused), (_, .sent), (_, .over): break
        }
        reply = .over
        connection.finish(lingering: true)
    }
}
