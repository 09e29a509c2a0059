// SPDX-License-Identifier: MIT

import LupineHTTP

/// Where a transfer stands among others: what its start says of them.
package struct TransferPlace: Sendable {
    /// The transfer's identity.
    package let id: TransferID
    /// Why there is this transfer.
    package let cause: TransferCause
    /// The task that it belongs to.
    package let taskIdentifier: Int?

    /// The place of a new transfer.
    package init(_ cause: TransferCause, taskIdentifier: Int? = nil) {
        id = .next()
        self.cause = cause
        self.taskIdentifier = taskIdentifier
    }
}

/// What an exchange that is observed tells its observers, step by step. An exchange that is not has none.
///
/// The start comes from whoever submits the exchange, everything else from the loop that carries it, so that one event is behind
/// the other.
package final class TransferObservation: Sendable {
    private struct State {
        var start: TransferStart?
        /// Since when it waits for a connection.
        var waitsSince = Instant.zero
        var status: Status?
    }

    private let reporter: TransferReporter
    private let place: TransferPlace
    private let state = Lock(State())

    init(_ place: TransferPlace, reporter: TransferReporter) {
        self.place = place
        self.reporter = reporter
    }

    /// The exchange goes to the pool, for the first time or once more. The first is the start.
    func submitted(_ exchange: Exchange) {
        let isFirst = state.withLock { $0.start == nil }
        guard isFirst else { return }
        let start = TransferStart(exchange, place)
        state.withLock { state in
            state.start = start
            state.waitsSince = exchange.began
        }
        report(.start(start))
    }

    /// A connection carries it from here on, and `head` is what goes out first.
    func leased(_ metrics: ExchangeMetrics, to origin: Origin, sending head: [UInt8], at now: Instant) {
        if let dial = metrics.dial { report(.dial(TransferDial(metrics, of: dial, to: origin))) }
        let since = state.withLock { $0.waitsSince }
        report(
            .lease(
                TransferLease(
                    isReused: metrics.isReused, waited: since.duration(to: now),
                    isReplay: metrics.wasReplayed,
                    localAddress: metrics.localAddress, remoteAddress: metrics.remoteAddress,
                    requestHead: head)))
    }

    /// HTTP/2 has said something of its connection or stream.
    func heard(_ notice: HTTP2Notice) { report(.notice(notice)) }

    /// Its connection has died, and it waits for another one.
    func lostConnection(at now: Instant) { state.withLock { $0.waitsSince = now } }

    /// The final head has come.
    func received(_ head: ResponseHead, _ metrics: ExchangeMetrics, at now: Instant) {
        state.withLock { $0.status = head.status }
        report(
            .head(
                TransferHead(
                    status: head.status, reason: head.reason, version: head.version, fields: head.fields,
                    timeToFirstByte: metrics.fetchStart.duration(to: metrics.responseStart ?? now))))
    }

    /// It is over. Called once.
    func ended(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        let (start, status) = state.withLock { ($0.start, $0.status) }
        // An exchange that was never submitted has told nothing.
        guard let start else { return }
        let outcome: TransferEnd.Outcome =
            switch result {
            case .success: .completed
            case .failure(.cancelled), .failure(.shutDown): .cancelled
            case .failure(let error): .failed(error)
            }
        let end = metrics.responseEnd ?? EventLoop.current?.now ?? MonotonicClock().now()
        report(
            .end(
                TransferEnd(
                    start: start, outcome: outcome, status: status,
                    duration: metrics.fetchStart.duration(to: end),
                    metrics: TransferMetrics(metrics, decoded: metrics.responseContentBytes))))
    }

    private func report(_ event: TransferEvent) { reporter.report(event, of: place.id) }
}
