// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// One exchange on a stream: the state that the connection stores until the stream ends.
///
/// Only the connection changes it. Content that the consumer does not accept waits in `heldContent`. Its size is limited by the
/// stream's window, because WINDOW_UPDATE frames are sent only for consumed content.
final class HTTP2Stream {
    /// How a response ended while some of its content was still undelivered. The consumer receives the end after that content.
    enum HeldEnd {
        case complete(trailers: Fields)
        case broken(TransportError)
    }

    let id: StreamID
    let exchange: Exchange
    var machine = StreamExchangeMachine()
    var metrics: ExchangeMetrics
    var deadlines: TransferDeadlines
    var receiveRate: RateLimit?
    var sendRate: RateLimit?
    /// Whether a response had arrived on the connection before this exchange began. Only such a connection may have been closed
    /// by the peer before the request arrived.
    let isOnUsedConnection: Bool

    /// The WebSocket tunnel after an upgrade; nil for nearly all streams.
    var tunnel: HTTP2Tunnel?

    // MARK: the request

    /// The content that is being sent.
    var feed = ContentFeed()
    /// The trailers to send after the content; empty for none.
    var trailers = Fields()
    /// Whether the connection has removed the stream, because it has ended.
    var isRemoved = false
    /// Whether the stream is in `HTTP2Connection.senders`.
    var isQueued = false
    /// Whether the stream is in `HTTP2Connection.stalledStreams`.
    var isStalled = false
    /// The stream's urgency.
    var urgency: Urgency
    /// The urgency that was sent to the peer; nil if the program sets the `Priority` field itself.
    var sentUrgency: Urgency?
    /// Whether the channel has accepted an octet of the request.
    var requestBegan = false
    /// Whether the end of the request has been appended to the output.
    var isEndWritten = false
    /// The error of a cancellation during `ExchangeSink.begins`; a separate loop job fails the stream with it.
    var deferredCancellation: TransportError?
    /// Whether the response arrived before all content was sent, and no more of the content is sent.
    var hasStoppedSending = false

    // MARK: the response

    /// The content length that the head has announced.
    var expectedLength: Int64?
    /// Interim heads that arrived while the exchange was suspended.
    var heldInterimHeads: [ResponseHead] = []
    /// The final head that arrived while the exchange was suspended.
    var heldHead: (head: ResponseHead, framing: BodyFraming)?
    /// Content that has arrived and has not been delivered.
    var heldContent = HeldContent()
    /// How the response ended after the held content; nil while it may continue.
    var heldEnd: HeldEnd?
    /// The number of delivered octets to which the consumer answered `.pause`. They are returned to the windows when it resumes.
    var withheldCredit = 0
    /// The size of the receive window.
    var window: StreamWindow
    /// Whether the stream is in `HTTP2Connection.streamsWithInput`.
    var isInStreamsWithInput = false
    /// The last value of `Exchange.isSuspended` that the connection has handled.
    var isSuspended = false
    /// The transfer of the content into a file; nil if the sink receives it.
    var splice: SpliceTransfer?

    // MARK: timers

    var deadlineTimer: (token: EventLoop.TimerToken, at: Instant)?
    /// Fires when the content is sent although `100 Continue` has not arrived.
    var continueTimer: EventLoop.TimerToken?
    /// Fires when the rate limit allows to send more content.
    var sendPaceTimer: EventLoop.TimerToken?
    /// Fires when the rate limit allows to deliver more content.
    var receivePaceTimer: EventLoop.TimerToken?

    init(
        _ id: StreamID, _ exchange: Exchange, _ metrics: consuming ExchangeMetrics, urgency: Urgency,
        window: Int, onUsedConnection: Bool, at now: Instant
    ) {
        self.id = id
        self.urgency = urgency
        sentUrgency = exchange.head.fields.contains(.priority) ? nil : urgency
        self.exchange = exchange
        self.metrics = metrics
        self.window = StreamWindow(window)
        isOnUsedConnection = onUsedConnection
        deadlines = TransferDeadlines(exchange.options.timeouts, at: exchange.createdAt)
        if let rate = exchange.options.receiveRate { receiveRate = RateLimit(rate: rate, at: now) }
        if let rate = exchange.options.sendRate { sendRate = RateLimit(rate: rate, at: now) }
    }

    /// Whether a head must wait, because the exchange is suspended or because an earlier head still waits.
    var holdsHeads: Bool { isSuspended || !heldInterimHeads.isEmpty || heldHead != nil }

    /// Whether content may be delivered now.
    var acceptsContent: Bool {
        guard case .exchanging(_, .receiving) = machine.state else { return false }
        return !isSuspended
    }

    /// Whether content may be sent now.
    var isSending: Bool {
        guard case .exchanging(.sending, _) = machine.state else { return false }
        return !isSuspended && deferredCancellation == nil && !hasStoppedSending && !isEndWritten
    }

    /// Whether content, or the head before it, has arrived and has not been delivered.
    var holdsResponse: Bool { !heldContent.isEmpty || heldHead != nil }

    /// The number of received octets that have not been returned to the windows.
    var unconsumedOctets: Int { heldContent.count + withheldCredit }

    /// The announced length of the request's content; nil if unknown.
    var announcedLength: Int64? {
        switch exchange.content.announcement {
        case .none: 0
        case .known(let length): length
        case .unknown: nil
        }
    }
}
