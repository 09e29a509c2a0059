// SPDX-License-Identifier: MIT

/// A client's side of one HTTP/1.1 connection: it writes requests and reads responses (RFC 9112).
///
/// The codec is the module's entry point. It does no I/O and uses no clock and no lock. Its owner, the connection, sends the
/// octets that the codec appends to `output`, passes received octets to `next`, and calls `next` until it returns `.needMore`.
/// The owner uses the codec on one thread at a time. After an error in received octets the connection is unusable, and the codec
/// throws the same error again.
///
///     var output: [UInt8] = []
///     try codec.send(head, body: .none, into: &output)
///     repeat { let (event, consumed) = try codec.next(received) ... } while event != needMore
package struct ClientCodec {
    private var states = ExchangeStates() {
        // Keeps the stored copies `maySendRequest` and `requestIsSent` equal to the states.
        didSet { (maySendRequest, requestIsSent) = (states.maySendRequest, states.request == .sent) }
    }
    /// Parses the heads of responses.
    private var parser: HeadParser
    /// Decodes the body of the current response.
    private var decoder = BodyDecoder(.none, limits: ParserLimits())
    /// Frames the body of the current request.
    private var encoder = BodyEncoder(.none)
    /// The kind of the current request, which decides how its response is framed.
    private var requestKind = BodyFraming.RequestKind.other
    /// Whether the current request has the field `Upgrade`, so that a 101 response is allowed.
    private var hasRequestedUpgrade = false
    /// The number of interim (1xx) heads received for the current request.
    private var interimHeadCount = 0
    /// The error in received octets, which every later call for received octets throws again.
    private var failure: HTTPError?

    /// True from a request with `Expect: 100-continue` until the first head of a response. Meanwhile the owner does not send the
    /// content, unless its own time-out elapses.
    package private(set) var awaitsContinue = false

    /// A codec for a new connection.
    package init(limits: ParserLimits = ParserLimits(), leniency: Leniency = .client) {
        parser = HeadParser(.response, limits: limits, leniency: leniency)
    }

    /// Replaces the limits and tolerances, between two exchanges: the codec then continues on another connection, of which it is
    /// as good as new. It keeps memory that the parser has allocated.
    package mutating func configure(limits: ParserLimits, leniency: Leniency) {
        precondition(maySendRequest, "another connection before the exchange is over")
        parser.configure(limits: limits, leniency: leniency)
    }

    // MARK: Sending a request

    // The next two properties store copies of what `states` says. Computed properties would be slower: to read one, the owner
    // would copy the whole codec.

    /// Whether a request may be sent now. It is true on a new connection, and whenever the last request and its response are
    /// complete and neither side has announced the end of the connection.
    package private(set) var maySendRequest = true

    /// Whether the request has been written completely.
    package private(set) var requestIsSent = false

    /// Begins an exchange: writes the head of the request.
    ///
    /// With `body: .none` the request is then complete; otherwise `sendEnd` completes it. `expectContinue` adds
    /// `Expect: 100-continue`; it has no effect without content or in HTTP/1.0 (RFC 9110 §10.1.1). Throws if the head is invalid;
    /// the function has then written nothing, and the codec is unchanged.
    package mutating func send(
        _ head: RequestHead, body: OutgoingBody, expectContinue: Bool = false, into output: inout [UInt8]
    ) throws(HTTPError) {
        precondition(maySendRequest, "a request before the exchange before it is over")
        try body.validate()
        let sendsExpectation = expectContinue && head.version == .http11 && body.hasContent
        try RequestEncoder.encode(head, body: body, expectContinue: sendsExpectation, into: &output)
        states.handle(.requestBegan)
        encoder = BodyEncoder(body)
        requestKind = BodyFraming.RequestKind(head.method)
        // False for most requests, for which the searches for `Upgrade` and `Connection` are skipped.
        let mayContainConnectionFields = head.fields.mayContainConnectionFields
        hasRequestedUpgrade = mayContainConnectionFields && head.fields.contains(.upgrade)
        awaitsContinue = sendsExpectation
        interimHeadCount = 0
        let hasCloseOption = mayContainConnectionFields && BodyFraming.hasCloseOption(head.fields)
        // The connection is not reused after an HTTP/1.0 request, even if the request says `Connection: keep-alive`.
        if hasCloseOption || head.version == .http10 { states.forbidReuse() }
        if body == .none { states.handle(.requestEnded) }
    }

    /// Writes the framing, such as a chunk size, that precedes the next `count` octets of content. The owner then sends the
    /// content itself. Throws if the content becomes longer than announced.
    package mutating func sendContent(_ count: Int, into output: inout [UInt8]) throws(HTTPError) {
        precondition(states.request == .sending, "content without a request")
        try encoder.beginContent(count, into: &output)
    }

    /// Completes the request: writes the framing after its content. Throws if the content is shorter than announced, if
    /// `TrailerRule` forbids a trailer, or if there are trailers and the length of the body is known.
    package mutating func sendEnd(trailers: Fields = Fields(), into output: inout [UInt8]) throws(HTTPError) {
        precondition(states.request == .sending, "an end without a request")
        try encoder.end(trailers: trailers, into: &output)
        states.handle(.requestEnded)
    }

    // MARK: Receiving a response

    /// Returns the next event and the number of octets of `input` that it consumed. Call it again with the remaining octets until
    /// it returns `.needMore`, which consumes everything.
    package mutating func next(
        _ input: Span<UInt8>
    ) throws(HTTPError) -> (event: ResponseEvent, consumed: Int) {
        if let failure { throw failure }
        do {
            return try nextEvent(input)
        } catch {
            fail(error)
            throw error
        }
    }

    private mutating func nextEvent(
        _ input: Span<UInt8>
    ) throws(HTTPError) -> (event: ResponseEvent, consumed: Int) {
        switch states.response {
        case .body:
            let (event, consumed) = try decoder.next(input)
            switch event {
            case .needMore: return (.needMore, consumed)
            case .content(let range): return (.content(range), consumed)
            case .end(let trailers):
                states.handle(.bodyEnded)
                return (.end(trailers: trailers), consumed)
            }
        case .head:
            guard input.count > 0 else { return (.needMore, 0) }
            // Nil if the head is incomplete: the parser has then stored all of the input.
            guard let consumed = try parser.scan(input) else { return (.needMore, input.count) }
            return (try receiveHead(parser.extractHead(from: input)), consumed)
        case .idle, .ended:
            guard input.count == 0 else { throw .unexpectedBytes(octet: input[0]) }
            return (.needMore, 0)
        case .handedOver:
            // Leaves the octets of the other protocol to the owner.
            return (.handover, 0)
        case .closed, .failed:
            // The connection has ended or failed: discards all further octets.
            return (.needMore, input.count)
        }
    }

    /// Determines the framing of a received head, advances the states, and returns the head's event.
    private mutating func receiveHead(_ parsed: HeadParser.ParsedHead) throws(HTTPError) -> ResponseEvent {
        guard case .response(let version, let status, let customReason) = parsed.startLine else {
            preconditionFailure("a response parser returned a request")
        }
        let (framing, allowsReuse) = try BodyFraming.ofResponse(
            version, status, parsed.fields, parsed.framingPositions, to: requestKind)
        let head = ResponseHead(
            version: version, status: status, customReason: customReason, fields: parsed.fields)
        awaitsContinue = false
        // 101 is an informational status, but here it is the final response: other protocols follow it.
        if status.code == 101 {
            guard hasRequestedUpgrade else { throw .unexpectedUpgrade }
        } else if status.kind == .informational {
            interimHeadCount += 1
            guard interimHeadCount <= parser.limits.interimHeads else {
                throw .limitExceeded(.interimHeads, allowed: parser.limits.interimHeads)
            }
            // Only the final head decides whether the connection is reused.
            return .interim(head)
        }
        if !allowsReuse { states.forbidReuse() }
        if framing == .handover {
            states.handle(.handoverReceived)
        } else {
            states.handle(.headReceived)
            decoder = BodyDecoder(framing, limits: parser.limits)
        }
        return .head(head, framing: framing, allowsReuse: allowsReuse)
    }

    /// Counts `count` octets of content that did not pass through `next`, because the kernel moved them with `splice`. The body
    /// must have a known length with at least `count` octets left, or end with the connection; otherwise the function traps.
    package mutating func skipContent(_ count: Int) {
        let isContent = states.response == .body && decoder.skip(count)
        precondition(isContent, "content that was not due")
    }

    /// Records that the peer has closed its side of the connection. Returns `.end` if the close completes the body, and
    /// `.needMore` if no response was expected. Otherwise throws `truncated`.
    package mutating func peerClosed() throws(HTTPError) -> ResponseEvent {
        if let failure { throw failure }
        switch states.response {
        case .head:
            let received = parser.receivedCount
            return try failTruncated(received == 0 ? .beforeHead : .insideHead(received: received))
        case .body:
            // Nil if the close completes the body.
            if let truncation = decoder.truncation { return try failTruncated(truncation) }
            states.handle(.bodyEnded)
            states.handle(.peerClosed)
            return .end(trailers: Fields())
        case .idle, .ended, .handedOver, .closed, .failed:
            states.handle(.peerClosed)
            return .needMore
        }
    }

    /// Stores and throws `truncated`. It never returns; it declares the result of `peerClosed` so that `peerClosed` can return
    /// the call.
    private mutating func failTruncated(_ truncation: HTTPError.Truncation) throws(HTTPError) -> ResponseEvent
    {
        fail(.truncated(truncation))
        throw .truncated(truncation)
    }

    /// Stores an error, which all later calls for received octets throw.
    private mutating func fail(_ error: HTTPError) {
        failure = error
        states.handle(.peerFailed)
    }
}
