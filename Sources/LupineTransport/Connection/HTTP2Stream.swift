// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// One exchange on a stream: the state that the connection keeps until the stream ends.
///
/// Only the connection changes it. Content that the consumer does not accept waits in `heldContent`; that is at most the stream's
/// window, since WINDOW_UPDATE frames are only sent for consumed content.
final class HTTP2Stream {
    /// An end that the consumer receives after the content before it.
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

    /// The tunnel after an upgrade; nil for nearly all streams.
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
    /// Whether the stream is in `HTTP2Connection.stalled`.
    var isStalled = false
    /// The stream's urgency.
    var urgency: Urgency
    /// The urgency that was sent to the peer; nil if the program sets the `Priority` field itself.
    var sentUrgency: Urgency?
    /// Whether some of the request has been handed to the kernel.
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
    var heldInterim: [ResponseHead] = []
    /// The final head that arrived while the exchange was suspended.
    var heldHead: (ResponseHead, BodyFraming)?
    /// Content that has not been delivered yet.
    var heldContent = HeldContent()
    /// How the response ended after the held content.
    var heldEnd: HeldEnd?
    /// The number of octets for which the consumer answered `.pause`; they are returned to the windows when it resumes.
    var withheldCredit = 0
    /// The size of the receive window.
    var window: StreamWindow
    /// Whether the stream is in `HTTP2Connection.awaitingCaughtUp`.
    var needsCaughtUp = false
    /// Whether the owner has suspended the exchange.
    var isSuspended = false
    /// The transfer of the content into a file; nil if the sink receives it.
    var splice: SpliceTransfer?

    var deadlineTimer: (token: EventLoop.TimerToken, at: Instant)?
    var continueTimer: EventLoop.TimerToken?
    var sendPaceTimer: EventLoop.TimerToken?
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
        deadlines = TransferDeadlines(exchange.options.timeouts, at: exchange.began)
        if let rate = exchange.options.receiveRate { receiveRate = RateLimit(rate: rate, at: now) }
        if let rate = exchange.options.sendRate { sendRate = RateLimit(rate: rate, at: now) }
    }

    /// Whether a head must wait: until the exchange is resumed, or behind an earlier head.
    var holdsHeads: Bool { isSuspended || !heldInterim.isEmpty || heldHead != nil }

    /// Whether content may be delivered now.
    var takesContent: Bool {
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
    var unconsumed: Int { heldContent.count + withheldCredit }

    /// The announced length of the request's content; nil if unknown.
    var announcedLength: Int64? {
        switch exchange.content.announcement {
        case .none: 0
        case .known(let length): length
        case .unknown: nil
        }
    }
}
