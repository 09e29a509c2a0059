// SPDX-License-Identifier: MIT

import LupineHTTP

/// The identifier of a transfer with its cause and its task, for the start event.
package struct TransferIdentity: Sendable {
    /// Identifies the transfer.
    package let id: TransferID
    /// The cause of the transfer.
    package let cause: TransferCause
    /// The identifier of its `URLSessionTask`; nil without a session.
    package let taskIdentifier: Int?

    /// Creates the identity of a new transfer.
    package init(_ cause: TransferCause, taskIdentifier: Int? = nil) {
        id = .next()
        self.cause = cause
        self.taskIdentifier = taskIdentifier
    }
}

/// Reports the events of one exchange to its observers. An exchange without observers has no observation.
///
/// The thread that submits the exchange reports the start. The loop that carries the exchange reports everything else, so the
/// events are in order.
package final class TransferObservation: Sendable {
    private struct State {
        /// The reported start; nil before the exchange is submitted.
        var start: TransferStart?
        /// When the exchange began to wait for a connection.
        var waitingSince = Instant.zero
        /// The status of the final head; nil before it arrives.
        var status: Status?
    }

    private let reporter: TransferReporter
    private let transfer: TransferIdentity
    private let state = Lock(State())

    init(_ transfer: TransferIdentity, reporter: TransferReporter) {
        self.transfer = transfer
        self.reporter = reporter
    }

    /// Reports the start, which `makeStart` returns, when the exchange is first submitted to the pool; later calls have no
    /// effect. `creation` is the time at which the exchange was created.
    func reportStart(at creation: Instant, _ makeStart: (TransferIdentity) -> TransferStart) {
        // `makeStart` runs outside of the lock. That is safe, because two submissions of an exchange never overlap.
        let isFirst = state.withLock { $0.start == nil }
        guard isFirst else { return }
        let start = makeStart(transfer)
        state.withLock { state in
            state.start = start
            state.waitingSince = creation
        }
        report(.start(start))
    }

    /// Reports that a connection was leased to the exchange, which sends `head` on it, and the dial if the connection is new.
    func reportLease(_ metrics: ExchangeMetrics, to origin: Origin, sending head: [UInt8], at now: Instant) {
        if let dial = metrics.dial { report(.dial(TransferDial(metrics, of: dial, to: origin))) }
        let since = state.withLock { $0.waitingSince }
        report(
            .lease(
                TransferLease(
                    isReused: metrics.isReused, waited: since.duration(to: now),
                    isReplay: metrics.wasReplayed,
                    localAddress: metrics.localAddress, remoteAddress: metrics.remoteAddress,
                    requestHead: head)))
    }

    /// Reports an HTTP/2 event of the connection or stream.
    func reportNotice(_ notice: HTTP2Notice) { report(.notice(notice)) }

    /// Records that the connection was lost, and that the exchange waits for another one from `now` on.
    func connectionWasLost(at now: Instant) { state.withLock { $0.waitingSince = now } }

    /// Reports the final head.
    func reportHead(_ head: ResponseHead, _ metrics: ExchangeMetrics, at now: Instant) {
        state.withLock { $0.status = head.status }
        report(
            .head(
                TransferHead(
                    status: head.status, reason: head.reason, version: head.version, fields: head.fields,
                    timeToFirstByte: metrics.fetchStart.duration(to: metrics.responseStart ?? now))))
    }

    /// Reports the end. Called once.
    func reportEnd(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        let (start, status) = state.withLock { ($0.start, $0.status) }
        // Observers have not received the start of an exchange that was never submitted, so they do not receive its end.
        guard let start else { return }
        let outcome: TransferEnd.Outcome =
            switch result {
            case .success: .completed
            case .failure(.cancelled), .failure(.shutDown): .cancelled
            case .failure(let error): .failed(error)
            }
        // If no response has ended, the transfer ends at the time of the loop's turn or, outside of a loop, at the present time.
        let end = metrics.responseEnd ?? EventLoop.current?.now ?? MonotonicClock().now()
        report(
            .end(
                TransferEnd(
                    start: start, outcome: outcome, status: status,
                    duration: metrics.fetchStart.duration(to: end),
                    // Decoding is no part of a transfer, so the number of octets after it is that of the received octets.
                    metrics: TransferMetrics(metrics, decoded: metrics.responseContentBytes))))
    }

    /// Passes an event to the reporter.
    private func report(_ event: TransferEvent) { reporter.report(event, of: transfer.id) }
}

extension TransferReporter {
    /// Returns the observation for an exchange.
    package func observation(of transfer: TransferIdentity) -> TransferObservation {
        TransferObservation(transfer, reporter: self)
    }
}
