// SPDX-License-Identifier: MIT

import LupineHTTP

/// What an HTTP/1.1 connection needs only for one exchange, so that an idle connection holds no memory for it.
///
/// It lasts until the response has been read, even if the exchange ends before, and after an upgrade until the connection closes.
/// If the connection is then reusable, the loop keeps the object for the next exchange, also of another connection.
///
/// The codec is a property of its own, and not a part of the writer and the reader. Each access to a property during which code
/// of another module runs is checked at run time (exclusive access), and so is then every other access to the same property.
/// Those to the reader never are.
final class CurrentExchange {
    /// The exchange; nil once it has ended while the connection still reads its response, or after an upgrade.
    private(set) var exchange: Exchange?
    var metrics: ExchangeMetrics
    var deadlines: TransferDeadlines
    private var codec: ClientCodec
    /// What is sent.
    var writer = RequestWriter()
    /// What is received.
    var reader = ResponseReader()
    /// Whether the response arrived before all content was sent, and no more of the content is sent.
    var hasStoppedSending = false
    /// The last value of `Exchange.isSuspended` that the connection has handled.
    var isSuspended = false
    /// Fires when the content is sent although `100 Continue` has not arrived.
    var continueTimer: EventLoop.TimerToken?
    /// Fires when the rate limit allows more bytes.
    var paceTimer: EventLoop.TimerToken?
    /// Fires after `exchangeEndDelay`, then after `drainTimeout`.
    var drainTimer: EventLoop.TimerToken?

    private init(_ exchange: Exchange, _ metrics: ExchangeMetrics) {
        self.exchange = exchange
        self.metrics = metrics
        deadlines = TransferDeadlines(exchange.options.timeouts, at: exchange.createdAt)
        codec = ClientCodec()
    }

    /// Returns the state of an exchange that begins on a connection of `loop`, in an object that the loop has kept if possible.
    static func make(for exchange: Exchange, _ metrics: ExchangeMetrics, on loop: EventLoop)
        -> CurrentExchange
    {
        guard let spare = loop.takeSpare() as? CurrentExchange else {
            return CurrentExchange(exchange, metrics)
        }
        spare.exchange = exchange
        spare.metrics = metrics
        spare.deadlines = TransferDeadlines(exchange.options.timeouts, at: exchange.createdAt)
        return spare
    }

    /// Gives an object to the loop when the connection has become idle and the exchange has been detached. Does not if something
    /// still refers to the object, or if an unusually large head has made it large.
    static func keep(_ current: consuming CurrentExchange, on loop: EventLoop) {
        guard current.reader.headOctets <= Self.keptHeadSize, isKnownUniquelyReferenced(&current) else {
            return
        }
        current.metrics.localAddress = nil
        current.metrics.remoteAddress = nil
        current.metrics.tls = nil
        current.hasStoppedSending = false
        loop.keepSpare(current)
    }

    /// The size of a response's heads up to which `keep` keeps the object.
    private static let keptHeadSize = 8 * 1024

    // MARK: the request

    /// Writes the head of the request. Throws if the head is invalid; nothing is then written.
    func begin(
        _ head: RequestHead, of exchange: Exchange, _ body: OutgoingBody, waitsForContinue: Bool,
        under pool: ConnectionPool, at now: Instant
    ) throws(HTTPError) {
        try encode { codec, output throws(HTTPError) in
            codec.configure(limits: pool.parserLimits, leniency: pool.leniency)
            try codec.send(head, body: body, expectContinue: waitsForContinue, into: &output)
        }
        let options = exchange.options
        writer.begin(
            hasContent: body != .none, rate: options.sendRate.map { RateLimit(rate: $0, at: now) })
        reader.begin(rate: options.receiveRate.map { RateLimit(rate: $0, at: now) })
        metrics.requestHeadBytes = writer.waitingOctets
        deadlines.handle(.sending, at: now)
    }

    /// Adds content after its framing. The pieces of a stream are added when they arrive.
    func add(_ content: OutgoingContent) throws(HTTPError) {
        if case .none = content { return }
        guard let count = writer.add(content) else { return }
        try encode { codec, output throws(HTTPError) in try codec.sendContent(count, into: &output) }
    }

    /// Adds a piece of content, which is not empty, from the source that was asked for it.
    func add(_ piece: [UInt8], from source: any ContentSource) throws(HTTPError) {
        try encode { codec, output throws(HTTPError) in try codec.sendContent(piece.count, into: &output) }
        writer.add(piece, from: source)
    }

    /// Adds the framing of the request's end.
    func addEnd(trailers: Fields = Fields()) throws(HTTPError) {
        try encode { codec, output throws(HTTPError) in try codec.sendEnd(trailers: trailers, into: &output) }
        writer.addEnd()
    }

    /// Has the codec append to the output of the writer. The output is moved out meanwhile: see the description of the type.
    private func encode(
        _ append: (inout ClientCodec, inout [UInt8]) throws(HTTPError) -> Void
    ) throws(HTTPError) {
        var output = writer.takeOutput()
        do throws(HTTPError) { try append(&codec, &output) } catch {
            writer.putBack(output: &output)
            throw error
        }
        writer.putBack(output: &output)
    }

    // MARK: the response

    /// Returns the codec's next event in `input`, and the number of octets that it consumed.
    func nextEvent(_ input: Span<UInt8>) throws(HTTPError) -> (event: ResponseEvent, consumed: Int) {
        let (event, consumed) = try codec.next(input)
        reader.recordConsumed(consumed)
        return (event, consumed)
    }

    /// Records content that the kernel has moved into a file. The codec has not parsed it; it must count it as received.
    func recordMoved(_ count: Int) {
        reader.recordContent(count)
        codec.skipContent(count)
    }

    /// Records that the peer has closed its side of the connection, which may end the response.
    func peerClosed() throws(HTTPError) -> ResponseEvent { try codec.peerClosed() }

    /// Whether request and response are complete, and neither side has announced the end of the connection.
    var allowsAnother: Bool { codec.maySendRequest }

    // MARK: the end

    /// Ends the exchange for the layer above: drops what is left of its request, and returns it. Its response may still be read.
    func detach(on loop: EventLoop) -> Exchange? {
        cancelContinueTimer(on: loop)
        if let timer = paceTimer { loop.cancel(timer) }
        paceTimer = nil
        isSuspended = false
        writer.clear()
        reader.endExchange()
        return exchange.take()
    }

    func cancelContinueTimer(on loop: EventLoop) {
        if let timer = continueTimer { loop.cancel(timer) }
        continueTimer = nil
    }

    func cancelDrainTimer(on loop: EventLoop) {
        if let timer = drainTimer { loop.cancel(timer) }
        drainTimer = nil
    }
}
