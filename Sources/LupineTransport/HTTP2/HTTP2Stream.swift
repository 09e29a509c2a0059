// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// One exchange on a stream: all that its connection keeps of it until it is over.
///
/// It belongs to the connection and does nothing by itself. What the consumer does not take now waits in `held`: at most as
/// much as the stream's window, since the peer is given more only for what was taken.
final class HTTP2Stream {
    /// An end that its consumer hears of when it has taken what came before.
    enum HeldEnd {
        case whole(trailers: Fields)
        case broken(TransportError)
    }

    let id: StreamID
    let exchange: Exchange
    var machine = StreamExchangeMachine()
    var metrics: ExchangeMetrics
    var deadlines: TransferDeadlines
    var receiveRate: RateLimit?
    var sendRate: RateLimit?
    /// Whether the connection had been answered on before: only then may it have been dying when this exchange came.
    let isOnUsedConnection: Bool

    /// What it is after HTTP; nil while it carries a message, as nearly all do to their end.
    var tunnel: HTTP2Tunnel?

    // MARK: our half

    var feed = ContentFeed()
    /// What goes behind the content.
    var trailers = Fields()
    /// Its connection has let go of it.
    var isForgotten = false
    /// It stands in the queue of those that have something to send.
    var isQueued = false
    /// It has something to send, and the connection's window is closed.
    var isStalled = false
    /// How urgent it is.
    var urgency: Urgency
    /// What the peer knows of that; nil where it has that from the program, and from nobody else.
    var toldUrgency: Urgency?
    /// Some of it has been handed to the kernel.
    var requestBegan = false
    /// The end of our half has been put behind everything else.
    var isEndWritten = false
    /// With what its owner has taken it back while it began: it ends so in the next turn.
    var takenBack: TransportError?
    /// The answer has come first: what is left of the content is not sent.
    var isAnswered = false

    // MARK: the peer's half

    /// How much content the head has announced.
    var expectedLength: Int64?
    /// Heads that came while it stood still.
    var heldInterim: [ResponseHead] = []
    var heldHead: (ResponseHead, BodyFraming)?
    /// Content that nobody has taken yet.
    var held = HeldContent()
    /// How the response has ended behind what is held.
    var heldEnd: HeldEnd?
    /// Octets that the consumer has got and paused over: the window is given them back when it goes on.
    var owed = 0
    var window: StreamWindow
    /// Something has come of which the consumer is to hear that there is no more for now.
    var isTouched = false
    /// It stands still at its owner's wish.
    var isSuspended = false
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
        toldUrgency = exchange.head.fields.contains(.priority) ? nil : urgency
        self.exchange = exchange
        self.metrics = metrics
        self.window = StreamWindow(window)
        isOnUsedConnection = onUsedConnection
        deadlines = TransferDeadlines(exchange.options.timeouts, at: exchange.began)
        if let rate = exchange.options.receiveRate { receiveRate = RateLimit(rate: rate, at: now) }
        if let rate = exchange.options.sendRate { sendRate = RateLimit(rate: rate, at: now) }
    }

    /// Whether a head has to wait: for the exchange to go on, or behind another one.
    var holdsHeads: Bool { isSuspended || !heldInterim.isEmpty || heldHead != nil }

    /// Whether content may be passed on now.
    var takesContent: Bool {
        guard case .exchanging(_, .receiving) = machine.state else { return false }
        return !isSuspended
    }

    /// Whether content may go out now.
    var isSending: Bool {
        guard case .exchanging(.sending, _) = machine.state else { return false }
        return !isSuspended && takenBack == nil && !isAnswered && !isEndWritten
    }

    /// Whether content, or the head in front of it, is here and has not been told of.
    var holdsResponse: Bool { !held.isEmpty || heldHead != nil }

    /// How many octets came of which the windows have not got back any.
    var unconsumed: Int { held.count + owed }

    /// Whether its content is announced to be of that length.
    var announcedLength: Int64? {
        switch exchange.content.announcement {
        case .none: 0
        case .known(let length): length
        case .unknown: nil
        }
    }
}
