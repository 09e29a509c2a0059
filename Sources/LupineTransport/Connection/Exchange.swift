// SPDX-License-Identifier: MIT

package import LupineHTTP
import Synchronization

/// One request going down, and the way to stop or resume it: what the layer above holds while it is under way.
///
/// The request is fixed when the exchange is made. The pool gives it a connection; the connection reports to the sink;
/// the sink hears `exchangeEnded` exactly once, whatever happens. `cancel`, `resume` and `state` may be used from any
/// thread.
package final class Exchange: Sendable {
    /// What is asked for; framing, `Host` and `Expect` are the connection's to add.
    package let head: RequestHead
    /// What goes out as the request's content.
    package let content: OutgoingContent
    /// Where it goes: the pool's key.
    package let origin: Origin
    /// What the caller asks for besides.
    package let options: ExchangeOptions
    let sink: any ExchangeSink
    /// When the exchange was made: its whole time-out runs from here.
    let began: Instant

    private let life: Lock<Life>
    private let replayed = Atomic<Bool>(false)
    /// Ends the wait for a connection when the whole time is over.
    private let waitTimer = Lock<WaitTimer?>(nil)

    private struct WaitTimer: Sendable {
        let loop: EventLoop
        let token: EventLoop.TimerToken
    }

    /// Where an exchange stands on its way.
    private enum Life: Sendable {
        case new
        case waiting(ConnectionPool, WaiterID)
        /// On a connection. Once cancelled it stays so, should the connection break and give it back first.
        case running(EventLoop, LoopBound<HTTP1Connection>, cancelled: TransportError?)
        /// Taken back before it ran; whoever holds it next ends it.
        case cancelled(TransportError)
        case over
    }

    /// An exchange that has not been submitted.
    package init(
        head: RequestHead, content: OutgoingContent = .none, origin: Origin,
        options: ExchangeOptions = ExchangeOptions(),
        sink: any ExchangeSink
    ) {
        self.head = head
        self.content = content
        self.origin = origin
        self.options = options
        self.sink = sink
        began = MonotonicClock().now()
        life = Lock(.new)
    }

    // MARK: for the layer above

    /// Ends the exchange with `error`, unless it is over. The sink hears of it soon, on a loop.
    package func cancel(_ error: TransportError = .cancelled) {
        let found = life.withLock { life -> Life in
            let found = life
            switch life {
            case .new, .waiting: life = .cancelled(error)
            case .running(let loop, let connection, let earlier):
                life = .running(loop, connection, cancelled: earlier ?? error)
            case .cancelled, .over: break
            }
            return found
        }
        switch found {
        case .new, .cancelled, .over: break
        case .waiting(let pool, let waiter): pool.cancel(waiter)
        case .running(_, _, cancelled: _?): break
        case .running(let loop, let connection, cancelled: nil):
            _ = loop.executeInline { connection.value.cancel(self, error) }
        }
    }

    /// The owner has all it wants of the response: the exchange ends as after `Demand.enough`. One that has no response
    /// yet is cancelled.
    package func skip() {
        let found = life.withLock { $0 }
        guard case .running(let loop, let connection, _) = found else { return cancel() }
        _ = loop.execute { connection.value.skip(self) }
    }

    /// Goes on after the sink has answered `.pause`. Harmless at any other time.
    package func resume() {
        let found = life.withLock { $0 }
        guard case .running(let loop, let connection, _) = found else { return }
        _ = loop.execute { connection.value.resume(self) }
    }

    // MARK: for the pool and the connection

    /// The pool has put it in a queue. False when it was cancelled before.
    ///
    /// The news may come late: when the exchange runs already, or even waits again, as its own `replay`.
    func isWaiting(in pool: ConnectionPool, as waiter: WaiterID, replay: Bool) -> Bool {
        life.withLock { life in
            switch life {
            case .new where replay == wasReplayed:
                life = .waiting(pool, waiter)
                return true
            case .cancelled: return false
            case .new, .waiting, .running, .over: return true
            }
        }
    }

    /// Sees to it that a time for the whole exchange counts while no connection keeps it. On `loop`.
    func watchWaiting(on loop: EventLoop) {
        guard let whole = options.timeouts.whole else { return }
        if case .over = life.withLock({ $0 }) { return }
        let token = loop.schedule(at: began + whole) { [weak self] reason in
            guard let self, reason == .due else { return }
            waitTimer.withLock { $0 = nil }
            cancel(.timedOut(host: origin.unixPath ?? origin.host, .whole))
        }
        let old = waitTimer.withLock { timer -> WaitTimer? in
            defer { timer = WaitTimer(loop: loop, token: token) }
            return timer
        }
        if let old { _ = old.loop.executeInline { old.loop.cancel(old.token) } }
        // It may have ended meanwhile, on another loop, without seeing this timer.
        guard case .over = life.withLock({ $0 }), let late = waitTimer.withLock({ $0.take() }) else { return }
        _ = late.loop.executeInline { late.loop.cancel(late.token) }
    }

    /// A connection takes it. Throws when it was cancelled before, and its end is then due.
    func begin(on connection: LoopBound<HTTP1Connection>, loop: EventLoop) throws(TransportError) {
        let cancelled = life.withLock { life -> TransportError? in
            if case .cancelled(let error) = life { return error }
            life = .running(loop, connection, cancelled: nil)
            return nil
        }
        if let cancelled { throw cancelled }
    }

    /// The connection gives it back to be sent again. False when nobody wants that any more.
    func beginAgain() -> Bool {
        life.withLock { life in
            switch life {
            case .running(_, _, cancelled: nil), .waiting, .new:
                replayed.store(true, ordering: .relaxed)
                life = .new
                return true
            case .running(_, _, cancelled: _?), .cancelled, .over: return false
            }
        }
    }

    /// Whether it is being sent for the second time.
    var wasReplayed: Bool { replayed.load(ordering: .relaxed) }

    /// The error it was cancelled with, as far as nobody has acted on it.
    var cancellation: TransportError? {
        life.withLock { life in
            switch life {
            case .cancelled(let error), .running(_, _, cancelled: let error?): error
            case .new, .waiting, .running(_, _, cancelled: nil), .over: nil
            }
        }
    }

    /// Ends it and tells the sink, once. On a loop.
    func end(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        let isFirst = life.withLock { life -> Bool in
            if case .over = life { return false }
            life = .over
            return true
        }
        guard isFirst else { return }
        // Also after an early answer: the source may still be asked for a piece that nobody wants.
        content.abandon()
        let timer = waitTimer.withLock { $0.take() }
        if let timer { _ = timer.loop.executeInline { timer.loop.cancel(timer.token) } }
        sink.exchangeEnded(result, metrics)
    }
}

/// How an exchange is to be carried out.
package struct ExchangeOptions: Sendable {
    /// Of each part of the exchange; connecting and TLS are the pool's to time.
    package var timeouts: TransferTimeouts
    /// Bytes of the body per second that may be received.
    package var receiveRate: Int?
    /// Bytes of the body per second that may be sent.
    package var sendRate: Int?
    /// Announces the content and waits so long for the peer's `100 Continue` before it is sent anyhow; nil: at once.
    package var continueTimeout: Interval?

    /// No limits, no waiting.
    package init(
        timeouts: TransferTimeouts = TransferTimeouts(), receiveRate: Int? = nil, sendRate: Int? = nil,
        continueTimeout: Interval? = nil
    ) {
        self.timeouts = timeouts
        self.receiveRate = receiveRate
        self.sendRate = sendRate
        self.continueTimeout = continueTimeout
    }
}
