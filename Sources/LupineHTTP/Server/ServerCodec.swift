// SPDX-License-Identifier: MIT

/// What `ServerCodec.next` found in the received octets: a part of a request, its end, or the need for more octets.
package enum RequestEvent: Sendable {
    /// The codec needs more octets. Until the response is complete, it does not consume octets that follow the request.
    case needMore
    /// The head, the framing of its body, and whether the request allows the connection to be reused.
    case head(RequestHead, framing: BodyFraming, allowsReuse: Bool)
    /// Content, as a range of the input.
    case content(Range<Int>)
    /// The request is complete.
    case end(trailers: Fields)
}

/// A server's side of one HTTP/1.1 connection: it reads requests and writes responses, one at a time.
///
/// The codec has the same components as the client's codec, `ClientCodec`, but no tolerances: it refuses any octets that two
/// implementations could read as different requests (RFC 9112 §11.2). It does no I/O. Its owner, the connection, uses it on one
/// thread at a time.
package struct ServerCodec {
    /// What the codec expects next from the client: the head or the body of a request, or nothing.
    private enum RequestState { case head, body, ended, failed }
    /// The progress of sending the response.
    private enum ResponseState { case idle, sending, sent }

    private let limits: ParserLimits
    /// Parses the heads of requests.
    private var parser: HeadParser
    private var requestState = RequestState.head
    private var responseState = ResponseState.idle
    /// Decodes the body of the current request.
    private var decoder = BodyDecoder(.none, limits: ParserLimits())
    /// Frames the body of the current response.
    private var encoder = BodyEncoder(.none)
    /// The kind of the current request, which decides how its response is framed.
    private var requestKind = BodyFraming.RequestKind.other
    private var requestVersion = HTTPVersion.http11
    /// Whether neither side has announced the end of the connection, and no error has ended it.
    private var allowsReuse = true
    /// The error in received octets, which every later call for received octets throws again.
    private var failure: HTTPError?

    /// Whether the owner must not send the content of the response: it is a response to HEAD or to an accepted CONNECT, or its
    /// status is 101, 204 or 304.
    package private(set) var omitsContent = false

    /// True from a head with `Expect: 100-continue` until content arrives or the final response begins.
    package private(set) var continueIsExpected = false

    /// A codec for a new connection.
    package init(limits: ParserLimits = ParserLimits()) {
        self.limits = limits.clamped
        parser = HeadParser(.request, limits: limits, leniency: .strict)
    }

    /// Whether the connection may carry another request once both sides of this exchange are complete.
    package var mayContinue: Bool { allowsReuse && failure == nil }

    /// Whether both the request and the response are complete.
    package var isExchangeComplete: Bool { requestState == .ended && responseState == .sent }

    // MARK: Receiving a request

    /// Returns the next event and the number of octets of `input` that it consumed. Call it again with the remaining octets until
    /// it returns `.needMore`. After a complete exchange, begins the next one.
    package mutating func next(_ input: Span<UInt8>) throws(HTTPError) -> (event: RequestEvent, consumed: Int)
    {
        if let failure { throw failure }
        if isExchangeComplete, allowsReuse {
            requestState = .head
            responseState = .idle
            // If the next request turns out to be unreadable, the response to it must not depend on the previous request.
            requestKind = .other
            requestVersion = .http11
        }
        do {
            return try nextEvent(input)
        } catch {
            failure = error
            requestState = .failed
            allowsReuse = false
            throw error
        }
    }

    private mutating func nextEvent(
        _ input: Span<UInt8>
    ) throws(HTTPError) -> (event: RequestEvent, consumed: Int) {
        switch requestState {
        case .head:
            // While the owner sends a response before a request has arrived, such as 408 (Request Timeout), the codec reads
            // nothing.
            guard input.count > 0, responseState == .idle else { return (.needMore, 0) }
            // Nil if the head is incomplete: the parser has then stored all of the input.
            guard let consumed = try parser.scan(input) else { return (.needMore, input.count) }
            return (try receiveHead(parser.extractHead(from: input)), consumed)
        case .body:
            let (event, consumed) = try decoder.next(input)
            switch event {
            case .needMore: return (.needMore, consumed)
            case .content(let range):
                continueIsExpected = false
                return (.content(range), consumed)
            case .end(let trailers):
                requestState = .ended
                return (.end(trailers: trailers), consumed)
            }
        case .ended, .failed:
            return (.needMore, 0)
        }
    }

    /// Prepares the codec for the body that follows a head and for the response, and returns the head's event.
    private mutating func receiveHead(_ parsed: HeadParser.ParsedHead) throws(HTTPError) -> RequestEvent {
        guard case .request(let method, let target, let version) = parsed.startLine else {
            preconditionFailure("a request parser returned a response")
        }
        let fields = parsed.fields
        try requireHost(fields, version)
        let (framing, allowsReuse) = try BodyFraming.ofRequest(version, fields, parsed.framingPositions)
        // After a CONNECT the client may already have sent octets of the tunnel, which must not be read as a request.
        self.allowsReuse = allowsReuse && method != .connect
        requestKind = BodyFraming.RequestKind(method)
        requestVersion = version
        continueIsExpected = framing != .none && version == .http11 && expectsContinue(fields)
        decoder = BodyDecoder(framing, limits: limits)
        // This is the state even after a head without a body: the decoder then returns `.end` at once.
        requestState = .body
        let head = RequestHead(method: method, target: target, version: version, fields: fields)
        // The event has the request's own `allowsReuse`, which may be true for CONNECT, too.
        return .head(head, framing: framing, allowsReuse: allowsReuse)
    }

    /// Throws unless the request has exactly one `Host`, which is well-formed; it may be absent in HTTP/1.0 (RFC 9112 §3.2).
    private func requireHost(_ fields: Fields, _ version: HTTPVersion) throws(HTTPError) {
        guard let index = fields.firstIndex(of: .host) else {
            guard version == .http10 else { throw .invalidHost(Excerpt("")) }
            return
        }
        guard fields.firstIndex(of: .host, from: index + 1) == nil,
            fields.withValue(at: index, Authority.isHostField)
        else { throw .invalidHost(Excerpt(fields.value(at: index))) }
    }

    /// Whether the fields contain `Expect: 100-continue`.
    private func expectsContinue(_ fields: Fields) -> Bool {
        fields.withFirstValue(of: .expect) { $0.equals(lowercased: "100-continue", in: 0..<$0.count) }
            ?? false
    }

    /// Records that the client has closed its side of the connection. Throws `truncated` if a request is then incomplete.
    package mutating func peerClosed() throws(HTTPError) {
        if let failure { throw failure }
        allowsReuse = false
        let truncation: HTTPError.Truncation? =
            switch requestState {
            case .head: parser.receivedCount == 0 ? nil : .insideHead(received: parser.receivedCount)
            case .body: decoder.truncation
            case .ended, .failed: nil
            }
        guard let truncation else { return }
        failure = .truncated(truncation)
        requestState = .failed
        throw .truncated(truncation)
    }

    // MARK: Sending a response

    /// Writes an interim (1xx) head. Writes nothing to an HTTP/1.0 client, which would read it as the final head (RFC 9110
    /// §15.2). Traps for 101, which is a final response: `send` writes it.
    package mutating func sendInterim(_ head: ResponseHead, into output: inout [UInt8]) throws(HTTPError) {
        precondition(
            responseState == .idle && head.status.kind == .informational && head.status.code != 101,
            "an interim response out of order")
        guard requestVersion == .http11 else { return }
        // An interim head has neither a framing line nor a `Connection` line.
        try ResponseEncoder.encode(head, framing: nil, connection: nil, into: &output)
    }

    /// Begins the response: writes its head. The framing depends on the length of the body and the version of the request. With
    /// `body: .none` the response is then complete; otherwise `sendEnd` completes it.
    ///
    /// The response is the last one on the connection if `close` is true or the fields contain `Connection: close`. It is also
    /// the last one if the head of the request has not arrived or was invalid, as with 408 or 400.
    ///
    /// A response to HEAD and a 204 or 304 response have no content: the codec writes no chunk framing and no trailers after the
    /// head. The head of a response to HEAD contains the same `Content-Length` or `Transfer-Encoding` as with content. The head
    /// of a 204 or 304 response contains neither. A body of unknown length to an HTTP/1.0 client ends with the connection.
    package mutating func send(
        _ head: ResponseHead, body: OutgoingBody, close: Bool = false, into output: inout [UInt8]
    ) throws(HTTPError) {
        precondition(responseState == .idle, "a second response to one request")
        precondition(
            head.status.kind != .informational || head.status.code == 101,
            "an interim response (\(head.status)) as the final one")
        try body.validate()
        // Whether the octets after the head are not HTTP.
        let isTunnel =
            head.status.code == 101 || (requestKind == .connect && head.status.kind == .successful)
        let isWithoutBody = isTunnel || head.status.code == 204 || head.status.code == 304
        let endsWithConnection = body == .unknown && requestVersion == .http10
        let hasCloseOption = BodyFraming.hasCloseOption(head.fields)
        let lacksRequest = requestState == .failed || requestState == .head
        let isLast =
            close || hasCloseOption || isTunnel || endsWithConnection || lacksRequest || !allowsReuse
        let framingLine: ResponseEncoder.FramingLine? =
            switch body {
            case _ where isWithoutBody: nil
            case .none: .contentLength(0)
            case .known(let length): .contentLength(length)
            case .unknown: endsWithConnection ? nil : .chunked
            }
        // An HTTP/1.1 connection persists unless the response says `close`, an HTTP/1.0 connection only if it says `keep-alive`.
        var connectionLine: ResponseEncoder.ConnectionLine?
        if !isTunnel, !hasCloseOption {
            if isLast {
                connectionLine = .close
            } else if requestVersion == .http10 {
                connectionLine = .keepAlive
            }
        }
        try ResponseEncoder.encode(head, framing: framingLine, connection: connectionLine, into: &output)
        allowsReuse = !isLast
        continueIsExpected = false
        omitsContent = isWithoutBody || requestKind == .head
        encoder = endsWithConnection ? .untilClose : BodyEncoder(body)
        responseState = body == .none ? .sent : .sending
    }

    /// Writes the chunk framing that precedes the next `count` octets of content; nothing for a body without chunks. The owner
    /// then sends the content itself, unless `omitsContent` is true. Throws if the content becomes longer than announced.
    package mutating func sendContent(_ count: Int, into output: inout [UInt8]) throws(HTTPError) {
        precondition(responseState == .sending, "content without a response")
        if !omitsContent { try encoder.beginContent(count, into: &output) }
    }

    /// Completes the response: writes the last chunk and the trailers of a body in chunks. Throws if the content is shorter than
    /// announced, if `TrailerRule` forbids a trailer, or if there are trailers and the length of the body is known.
    package mutating func sendEnd(trailers: Fields = Fields(), into output: inout [UInt8]) throws(HTTPError) {
        precondition(responseState == .sending, "an end without a response")
        if !omitsContent { try encoder.end(trailers: trailers, into: &output) }
        responseState = .sent
    }
}
