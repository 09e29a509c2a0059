// SPDX-License-Identifier: MIT

/// An event in the octets that a server's codec received.
package enum RequestEvent: Sendable {
    /// More octets are needed. The codec does not consume the octets of the next request until the response is complete.
    case needMore
    /// The head, the framing of its body, and whether its fields allow the connection to be reused.
    case head(RequestHead, framing: BodyFraming, allowsReuse: Bool)
    /// Content, as a range of the input.
    case content(Range<Int>)
    /// The request is complete.
    case end(trailers: Fields)
}

/// A server's side of one HTTP/1.1 connection: requests in, responses out, one at a time.
///
/// It consists of the same parts as the client's codec, but has no tolerances: it refuses anything that two implementations could
/// read as different requests (RFC 9112 §11.2). Does no I/O; used on one thread at a time.
package struct ServerCodec {
    private enum Receiving { case head, body, ended, failed }
    private enum Sending { case idle, sending, sent }

    private let limits: ParserLimits
    private var parser: HeadParser
    private var receiving = Receiving.head
    private var sending = Sending.idle
    private var decoder = BodyDecoder(.none, limits: ParserLimits())
    private var encoder = BodyEncoder(.none)
    private var requestKind = BodyFraming.RequestKind.other
    private var requestVersion = HTTPVersion.http11
    private var allowsReuse = true
    private var failure: HTTPError?

    /// Whether the owner must not send the content of the response: it is a response to HEAD or to an accepted CONNECT, or its
    /// status is 101, 204 or 304.
    package private(set) var omitsContent = false

    /// True from a head with `Expect: 100-continue` until content arrives or a response begins.
    package private(set) var continueIsExpected = false

    /// A codec for a new connection.
    package init(limits: ParserLimits = ParserLimits()) {
        self.limits = limits.bounded
        parser = HeadParser(.request, limits: limits, leniency: .strict)
    }

    /// Whether the connection may carry another request once both sides of this exchange are complete.
    package var mayContinue: Bool { allowsReuse && failure == nil }

    /// Whether both the request and the response are complete.
    package var isExchangeComplete: Bool { receiving == .ended && sending == .sent }

    // MARK: Receiving a request

    /// Returns the next event and the number of octets of `input` that it consumed.
    package mutating func next(_ input: Span<UInt8>) throws(HTTPError) -> (event: RequestEvent, consumed: Int)
    {
        if let failure { throw failure }
        if isExchangeComplete, allowsReuse {
            receiving = .head
            sending = .idle
            // The error response to an unreadable request must not depend on the request before it.
            requestKind = .other
            requestVersion = .http11
        }
        do {
            return try nextEvent(input)
        } catch {
            failure = error
            receiving = .failed
            allowsReuse = false
            throw error
        }
    }

    private mutating func nextEvent(
        _ input: Span<UInt8>
    ) throws(HTTPError) -> (event: RequestEvent, consumed: Int) {
        switch receiving {
        case .head:
            // While the owner sends a response before a request has arrived, such as 408, the codec reads nothing.
            guard input.count > 0, sending == .idle else { return (.needMore, 0) }
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
                receiving = .ended
                return (.end(trailers: trailers), consumed)
            }
        case .ended, .failed:
            return (.needMore, 0)
        }
    }

    /// Prepares for the body and the response of a parsed head, and returns its event.
    private mutating func receiveHead(_ parsed: HeadParser.ParsedHead) throws(HTTPError) -> RequestEvent {
        guard case .request(let method, let target, let version) = parsed.startLine else {
            preconditionFailure("a request parser returned a response")
        }
        let fields = parsed.fields
        try requireHost(fields, version)
        let (framing, allowsReuse) = try BodyFraming.ofRequest(version, fields, parsed.framing)
        self.allowsReuse = allowsReuse && method != .connect
        requestKind = BodyFraming.RequestKind(method)
        requestVersion = version
        continueIsExpected = framing != .none && version == .http11 && expectsContinue(fields)
        decoder = BodyDecoder(framing, limits: limits)
        // Also without a body: the decoder then returns the end.
        receiving = .body
        let head = RequestHead(method: method, target: target, version: version, fields: fields)
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

    private func expectsContinue(_ fields: Fields) -> Bool {
        fields.withFirstValue(of: .expect) { $0.equals(lowercased: "100-continue", in: 0..<$0.count) }
            ?? false
    }

    /// Handles the client's end of stream; throws if it truncates a request.
    package mutating func peerClosed() throws(HTTPError) {
        if let failure { throw failure }
        allowsReuse = false
        let truncation: HTTPError.Truncation? =
            switch receiving {
            case .head: parser.receivedCount == 0 ? nil : .insideHead(received: parser.receivedCount)
            case .body: decoder.truncation
            case .ended, .failed: nil
            }
        guard let truncation else { return }
        failure = .truncated(truncation)
        receiving = .failed
        throw .truncated(truncation)
    }

    // MARK: Sending a response

    /// Writes an interim (1xx) head. Writes nothing to an HTTP/1.0 client, which would read it as the final head (RFC 9110
    /// §15.2). For 101 there is `send`, because it is a final response here.
    package mutating func sendInterim(_ head: ResponseHead, into output: inout [UInt8]) throws(HTTPError) {
        precondition(
            sending == .idle && head.status.kind == .informational && head.status.code != 101,
            "an interim response out of order")
        guard requestVersion == .http11 else { return }
        try ResponseEncoder.encode(head, framing: nil, connection: nil, into: &output)
    }

    /// Begins the response: writes its head, with a framing that depends on the body's length and the request's version. With
    /// `body: .none` the response is complete, otherwise `sendEnd` completes it.
    ///
    /// The response is the last one on the connection with `close`, with `Connection: close` among the fields, and if the head of
    /// the request has not arrived or was invalid, as with 408 or 400.
    ///
    /// Responses to HEAD, 204 and 304 have no content: the codec omits the framing of content and trailers. A body of unknown
    /// length to an HTTP/1.0 client ends with the connection.
    package mutating func send(
        _ head: ResponseHead, body: OutgoingBody, close: Bool = false, into output: inout [UInt8]
    ) throws(HTTPError) {
        precondition(sending == .idle, "a second response to one request")
        precondition(
            head.status.kind != .informational || head.status.code == 101,
            "an interim response (\(head.status)) as the final one")
        try body.validate()
        let isTunnel =
            head.status.code == 101 || (requestKind == .connect && head.status.kind == .successful)
        let isBodiless = isTunnel || head.status.code == 204 || head.status.code == 304
        let endsWithConnection = body == .unknown && requestVersion == .http10
        let hasCloseOption = BodyFraming.hasCloseOption(head.fields)
        let isLast =
            close || hasCloseOption || isTunnel || endsWithConnection || !allowsReuse || receiving == .failed
            || receiving == .head
        let line: ResponseEncoder.FramingLine? =
            switch body {
            case _ where isBodiless: nil
            case .none: .contentLength(0)
            case .known(let length): .contentLength(length)
            case .unknown: endsWithConnection ? nil : .chunked
            }
        var connection: ResponseEncoder.ConnectionLine?
        if !isTunnel, !hasCloseOption {
            if isLast {
                connection = .close
            } else if requestVersion == .http10 {
                connection = .keepAlive
            }
        }
        try ResponseEncoder.encode(head, framing: line, connection: connection, into: &output)
        allowsReuse = !isLast
        continueIsExpected = false
        omitsContent = isBodiless || requestKind == .head
        encoder = endsWithConnection ? .untilClose : BodyEncoder(body)
        sending = body == .none ? .sent : .sending
    }

    /// Writes the framing before the next `count` octets of content, which the owner then sends itself, unless `omitsContent`.
    package mutating func sendContent(_ count: Int, into output: inout [UInt8]) throws(HTTPError) {
        precondition(sending == .sending, "content without a response")
        if !omitsContent { try encoder.beginContent(count, into: &output) }
    }

    /// Completes the response.
    package mutating func sendEnd(trailers: Fields = Fields(), into output: inout [UInt8]) throws(HTTPError) {
        precondition(sending == .sending, "an end without a response")
        if !omitsContent { try encoder.end(trailers: trailers, into: &output) }
        sending = .sent
    }
}
