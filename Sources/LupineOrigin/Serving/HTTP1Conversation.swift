// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Serves HTTP/1.1 on one connection, one request at a time: the next request begins when the response has been produced.
///
/// Used on its loop only. The request and the response progress independently: if a response ends before the body of its request
/// does, the conversation reads and drops the rest of the body. While the client does not read, the conversation produces no
/// output and begins no request. A slow client therefore costs a fixed amount of memory.
final class HTTP1Conversation: Conversation {
    /// Appends the next piece of a streamed response, as in `OriginResponse.Body.stream`.
    private typealias Producer = (_ piece: inout [UInt8], _ room: Int) -> OriginResponse.Continuation

    /// The state of the request.
    private enum RequestState {
        case awaitingHead
        /// The sink receives the body.
        case body(any BodySink)
        /// The rest of the body is dropped.
        case discardingBody
        /// The whole request has arrived.
        case ended
    }

    /// The state of the response.
    private enum ResponseState {
        case notBegun
        /// The response waits for its delay or its gate.
        case delayed(OriginResponse)
        /// The head has been sent; the producer produces the content.
        case streaming(Producer)
        /// The producer of a streamed response waits before its next piece.
        case paused(Producer)
        /// The whole response has been written to the connection's output.
        case sent
        /// The conversation sends nothing more: the connection ends, or another conversation has replaced this one.
        case over
    }

    /// The maximum size of a body that is copied into the output after its head. Longer bodies are sent without copying.
    private static let copiedBytes = 16 << 10
    /// The size of a piece that is suggested to a producer.
    private static let pieceBytes = 16 << 10

    private var codec: ServerCodec
    private var requestState = RequestState.awaitingHead
    private var responseState = ResponseState.notBegun
    /// The buffer to which a producer appends the next piece of a response.
    private var piece: [UInt8] = []
    private var date = CurrentDate()

    /// Creates the conversation of a new connection.
    init(limits: ParserLimits) { codec = ServerCodec(limits: limits) }

    var wantsInput: Bool { if case .over = responseState { false } else { true } }

    var awaitsClient: Bool {
        switch responseState {
        case .delayed, .paused: false
        // A streamed response waits for the client to read it.
        case .notBegun, .streaming, .sent, .over: true
        }
    }

    func resume(_ connection: ServerConnection) {
        switch responseState {
        case .delayed(let response):
            guard let choose = response.choice else { return send(response, connection) }
            // `answer` sends a response only in this state.
            responseState = .notBegun
            answer(connection) { () throws(Refusal) in try carryOut(choose(), connection) }
        case .paused(let producer): responseState = .streaming(producer)
        case .notBegun, .streaming, .sent, .over: break
        }
    }

    func advance(_ connection: ServerConnection) -> Bool {
        var hasProgressed = false
        while connection.hasOutputRoom {
            var passHasProgressed = false
            if case .streaming(let producer) = responseState {
                produce(producer, connection)
                passHasProgressed = true
            }
            if handleNextEvent(connection) { passHasProgressed = true }
            if case .over = responseState { return true }
            guard passHasProgressed else { return hasProgressed }
            hasProgressed = true
        }
        return hasProgressed
    }

    // MARK: receiving

    /// Parses the next event of the input, and reacts to it. Returns false if the input has no complete event.
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
                if case .body(let sink) = requestState {
                    answer(connection) { () throws(Refusal) in
                        try connection.withInput { input throws(Refusal) in
                            try sink.receive(input.extracting(range))
                        }
                        // The sink responds at the end of the body.
                        return nil
                    }
                }
                connection.consume(consumed)
            case .end(let trailers):
                connection.consume(consumed)
                let previousState = requestState
                requestState = .ended
                if case .body(let sink) = previousState {
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

    /// Ends the connection after the client has closed its half and all input is consumed. Returns false, and does nothing, if a
    /// response is still to be sent. Throws if a request is incomplete.
    private func handlePeerEnd(_ connection: ServerConnection) throws(HTTPError) -> Bool {
        try codec.peerClosed()
        switch (requestState, responseState) {
        case (.awaitingHead, _), (_, .sent):
            responseState = .over
            connection.finish(lingering: false)
            return true
        case (_, .notBegun), (_, .delayed), (_, .streaming), (_, .paused), (_, .over):
            return false
        }
    }

    /// Serves a request whose head has arrived.
    private func beginRequest(_ head: RequestHead, _ framing: BodyFraming, _ connection: ServerConnection) {
        connection.service.counts.countRequest()
        responseState = .notBegun
        // The body is dropped unless `receiveBody` is called.
        requestState = .discardingBody
        var parsedRequest = OriginRequest(
            head, peer: connection.peer, connection: connection.number, tls: connection.tls)
        switch connection.service.match(head.method.rawValue, parsedRequest.path) {
        case .endpoint(let endpoint, let parameters):
            parsedRequest.parameters = parameters
            // The closures below capture this constant: nothing changes the request after the match.
            let request = parsedRequest
            switch endpoint {
            case .immediate(let handler):
                answer(connection) { () throws(Refusal) in try handler(request) }
            case .collected(let handler):
                let limit = connection.service.configuration.maximumCollectedBytes
                if case .length(let length) = framing, length > Int64(limit) {
                    let refusal = Refusal(413, "this path takes bodies of at most \(limit) bytes")
                    return answer(connection) { () throws(Refusal) in throw refusal }
                }
                // No body follows.
                if framing == .none {
                    return answer(connection) { () throws(Refusal) in try handler(request) }
                }
                receiveBody(with: CollectingSink(request, limit: limit, handler), connection)
            case .streamed(let makeSink):
                answer(connection) { () throws(Refusal) in
                    receiveBody(with: try makeSink(request), connection)
                    // The sink responds at the end of the body.
                    return nil
                }
            case .webSocket(let makeBehaviour):
                answer(connection) { () throws(Refusal) in
                    try acceptWebSocket(with: try makeBehaviour(request), request.head, connection)
                }
            case .script(let plan):
                followNextScript(of: plan, connection)
            case .chosen(let choose):
                answer(connection) { () throws(Refusal) in try carryOut(choose(request), connection) }
            }
        case .otherMethods(let methods):
            answer(connection) { () throws(Refusal) in
                var response = try OriginResponse(
                    405, json: .object([("error", .string("method not allowed"))]))
                try response.add(.allow, methods.joined(separator: ", "))
                return response
            }
        case .notFound:
            answer(connection) { () throws(Refusal) in throw Refusal(404, "nothing is here") }
        }
    }

    /// Starts passing the request's body to `sink`. Sends 100 Continue if the client expects it.
    private func receiveBody(with sink: any BodySink, _ connection: ServerConnection) {
        requestState = .body(sink)
        guard codec.continueIsExpected else { return }
        // Writing an interim head without fields cannot fail.
        try? codec.sendInterim(ResponseHead(status: Status(100)), into: &connection.output)
    }

    /// Accepts a web socket, which takes over the connection. Returns nil if it has accepted, or the response to an invalid
    /// handshake.
    private func acceptWebSocket(
        with behaviour: WebSocketBehaviour, _ head: RequestHead, _ connection: ServerConnection
    ) throws(Refusal) -> OriginResponse? {
        let acceptance: WebSocketServerHandshake
        do throws(WebSocketError) {
            acceptance = try WebSocketServerHandshake(
                head, subprotocols: behaviour.subprotocols, allowsCompression: behaviour.acceptsCompression)
        } catch { return OriginResponse(refusing: error) }
        do throws(HTTPError) {
            try codec.send(acceptance.response, body: .none, into: &connection.output)
        } catch { throw .badRequest(error.description) }
        responseState = .over
        connection.replaceConversation(with: WebSocketEcho(behaviour, acceptance.agreement))
        return nil
    }

    /// Carries out the decision of an endpoint. Returns the response to send; nil if the connection follows a script.
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

    /// Follows the next script of a plan, or closes the connection if the plan decides so.
    private func followNextScript(of plan: ScriptPlan, _ connection: ServerConnection) {
        switch plan.nextDecision() {
        case .follow(let script): follow(script, connection)
        case .refuse, .stopListening:
            responseState = .over
            connection.finish(lingering: false)
        }
    }

    /// Replaces this conversation by one that follows a script.
    private func follow(_ script: Script, _ connection: ServerConnection) {
        responseState = .over
        connection.replaceConversation(with: ScriptConversation(script))
    }

    // MARK: sending

    /// Sends the response that `body` returns, if any. If `body` throws, sends the refusal, and drops the rest of the request's
    /// body. Has no effect if the response has already begun.
    private func answer(
        _ connection: ServerConnection, _ body: () throws(Refusal) -> OriginResponse?
    ) {
        let response: OriginResponse?
        do throws(Refusal) {
            response = try body()
        } catch {
            if case .body = requestState { requestState = .discardingBody }
            // Creating a response with a JSON document cannot fail: its `Content-Type` is legal.
            var refusal = try? OriginResponse(
                error.status, json: .object([("error", .string(error.message))]))
            // The rest of a body that is too long (413) may be endless.
            if error.status == 413 { refusal?.closesConnection = true }
            response = refusal ?? OriginResponse(error.status)
        }
        guard let response else { return }
        guard case .notBegun = responseState else { return }
        if let gate = response.gate {
            responseState = .delayed(response)
            connection.wait(for: gate)
        } else if let delay = response.delay {
            responseState = .delayed(response)
            connection.wait(for: delay)
        } else {
            send(response, connection)
        }
    }

    /// Sends a response, or ends the connection if the response cannot be encoded.
    private func send(_ response: OriginResponse, _ connection: ServerConnection) {
        do throws(HTTPError) {
            try encode(response, connection)
        } catch {
            // Interim responses or the head may have been sent, so no other response can follow.
            responseState = .over
            connection.finish(lingering: true)
        }
    }

    /// Writes a whole response to the output, or the head of a streamed response.
    private func encode(_ response: OriginResponse, _ connection: ServerConnection) throws(HTTPError) {
        for head in response.interim { try codec.sendInterim(head, into: &connection.output) }
        var fields = response.fields
        if !fields.contains(.date) { try fields.append(.date, date.fieldValue().span) }
        let head = ResponseHead(status: response.status, reason: response.reason, fields: fields)
        // A client that expects 100 Continue, and receives a final response instead, may or may not send its body. The next
        // octets could therefore be a body or a request.
        let closesConnection = response.closesConnection || codec.continueIsExpected
        switch response.body {
        case .none:
            try codec.send(head, body: .none, close: closesConnection, into: &connection.output)
            responseState = .sent
        case .bytes(let bytes):
            guard !bytes.isEmpty else {
                try codec.send(head, body: .none, close: closesConnection, into: &connection.output)
                responseState = .sent
                break
            }
            let body = OutgoingBody.known(Int64(bytes.count))
            try codec.send(head, body: body, close: closesConnection, into: &connection.output)
            // Writes the framing before the content, which follows below.
            try codec.sendContent(bytes.count, into: &connection.output)
            // The response to HEAD, and one with a status such as 304, has no content.
            if !codec.omitsContent {
                if bytes.count <= Self.copiedBytes {
                    connection.output += bytes
                } else {
                    connection.send(largeBody: bytes)
                }
            }
            try codec.sendEnd(into: &connection.output)
            responseState = .sent
        case .stream(let length, let producer):
            let body = length.map { OutgoingBody.known($0) } ?? .unknown
            try codec.send(head, body: body, close: closesConnection, into: &connection.output)
            if codec.omitsContent {
                try codec.sendEnd(into: &connection.output)
                responseState = .sent
            } else {
                responseState = .streaming(producer)
            }
        }
        concludeIfEnded(connection)
    }

    /// Sends the next piece of a streamed response.
    private func produce(_ producer: @escaping Producer, _ connection: ServerConnection) {
        piece.removeAll(keepingCapacity: true)
        let continuation = producer(&piece, Self.pieceBytes)
        do throws(HTTPError) {
            if !piece.isEmpty {
                // Writes the framing before the content.
                try codec.sendContent(piece.count, into: &connection.output)
                connection.output += piece
            }
            switch continuation {
            case .more: break
            case .pause(let delay):
                responseState = .paused(producer)
                connection.wait(for: delay)
            case .wait(let gate):
                responseState = .paused(producer)
                connection.wait(for: gate)
            case .end(let trailers):
                try codec.sendEnd(trailers: trailers, into: &connection.output)
                responseState = .sent
                concludeIfEnded(connection)
            }
        } catch {
            // The head has been sent, so no other response can follow.
            responseState = .over
            connection.finish(lingering: true)
        }
    }

    /// Awaits the next request if both the request and the response have ended. If the connection cannot be reused, ends it as
    /// soon as the response has ended.
    private func concludeIfEnded(_ connection: ServerConnection) {
        guard case .sent = responseState else { return }
        if !codec.mayContinue {
            responseState = .over
            let hasRequestEnded = if case .ended = requestState { true } else { false }
            // Lingers if the client may still send: a reset for its octets could discard the response.
            connection.finish(lingering: !hasRequestEnded || connection.inputCount > 0)
        } else if case .ended = requestState {
            // `responseState` stays `sent` until the next head has arrived.
            requestState = .awaitingHead
        }
    }

    /// Answers a malformed request with an error, unless a response has begun. Then ends the connection. A truncated request is
    /// not answered.
    private func refuse(_ error: HTTPError, _ connection: ServerConnection) {
        let status =
            switch error {
            case .limitExceeded: 431
            case .unsupportedVersion, .http2Preface: 505
            default: 400
            }
        if case .truncated = error {
            responseState = .over
            return connection.finish(lingering: false)
        }
        switch (requestState, responseState) {
        case (.awaitingHead, _), (_, .notBegun):
            responseState = .notBegun
            requestState = .discardingBody
            answer(connection) { () throws(Refusal) in throw Refusal(status, error.description) }
            // The end of the response has ended the connection.
            if case .over = responseState { return }
        // The client cannot receive an error in the middle of another response.
        case (_, .delayed), (_, .streaming), (_, .paused), (_, .sent), (_, .over): break
        }
        responseState = .over
        connection.finish(lingering: true)
    }
}
