// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport

/// Carries out one hop over the network with an `Exchange` of the transport.
///
/// The load is the sink of the exchange, and calls its client directly on the connection's loop. The driver handles redirects,
/// challenges and caching. `NetworkLoad+Receiving` is the receiving half.
final class NetworkLoad: HopLoad {
    let hopRequest: HopRequest
    let client: any HopLoadClient
    let settings: SessionSettings
    private let engine: SessionEngine
    private let began = Date()
    private let life: Lock<Life>
    /// The state of the response as it is received.
    let flow = Lock(ResponseFlow())

    private struct Life: Sendable {
        var stage = Stage.new
        /// The error that the load was cancelled with; nil if it was not cancelled.
        var cancellation: URLError?
        var isSuspended = false
        /// Whether the client has called `resumeReading()` while the load was suspended.
        var hasPendingResume = false
        var priority: Float
        /// The reader of a body that is a stream; nil for other bodies.
        var stream: BodyStreamSource?
    }

    private enum Stage: Sendable {
        case new
        /// The `SendingPlan` is being made, or the client is asked for the body's stream.
        case preparing
        case running(Exchange)
        case over

        /// Whether the load has an exchange, or has ended.
        var hasExchange: Bool {
            switch self {
            case .new, .preparing: false
            case .running, .over: true
            }
        }
    }

    /// Creates a load of `request` in a session.
    convenience init(_ request: HopRequest, context: SessionContext, client: any HopLoadClient) {
        self.init(request, settings: context.settings, engine: context.engine, client: client)
    }

    /// Creates a load of `request` over an engine.
    init(
        _ request: HopRequest, settings: SessionSettings, engine: SessionEngine, client: any HopLoadClient
    ) {
        hopRequest = request
        self.client = client
        self.settings = settings
        self.engine = engine
        life = Lock(Life(priority: request.priority))
    }

    // MARK: calls of the driver

    func start() {
        let isFirst = life.withLock { life -> Bool in
            guard case .new = life.stage else { return false }
            life.stage = .preparing
            return true
        }
        guard isFirst else { return }
        do throws(URLError) {
            let plan = try SendingPlan(hopRequest, settings, engine)
            switch plan.body {
            case .none, .data, .file: send(plan, nil)
            case .stream(let stream): send(plan, BodyStreamSource(stream, length: plan.length))
            case .suppliedByClient:
                client.hopNeedsBodyStream(self) { stream in self.supplied(stream, for: plan) }
            }
        } catch { failAsynchronously(error) }
    }

    /// Sends the request with the stream that the client has supplied; fails if the client has none.
    private func supplied(_ stream: BodyStream?, for plan: SendingPlan) {
        guard let stream else {
            return failAsynchronously(
                .loading(
                    .requestBodyStreamExhausted, url: hopRequest.request.url,
                    reason:
                        "the body is to be sent again, and nobody has given a new stream for it (needNewBodyStream)"
                ))
        }
        let source = BodyStreamSource(stream, length: plan.length) { [weak self] reply in
            guard let self else { return reply(nil) }
            client.hopNeedsBodyStream(self, reply: reply)
        }
        send(plan, source)
    }

    /// Creates the exchange, and submits it unless the load was cancelled meanwhile.
    private func send(_ plan: SendingPlan, _ stream: BodyStreamSource?) {
        let exchange = Exchange(
            head: plan.head, content: plan.content(stream), origin: plan.origin, options: plan.options,
            observation: hopRequest.transfer.flatMap { engine.reporter?.observation(of: $0) },
            preferring: hopRequest.loop, at: settings.clock.transport.now(), sink: self)
        flow.withLock { $0.progress = SendProgress(expected: plan.length) }
        let isWanted = life.withLock { life -> Bool in
            guard case .preparing = life.stage else { return false }
            life.stage = .running(exchange)
            life.stream = stream
            exchange.priority = life.priority
            exchange.setSuspended(life.isSuspended)
            return true
        }
        if isWanted { engine.submit(exchange, isWebSocket: hopRequest.isUpgrade) } else { stream?.abandon() }
    }

    func cancel(_ error: URLError) {
        let stage = life.withLock { life -> Stage in
            let stage = life.stage
            if life.cancellation == nil { life.cancellation = error }
            // Under the same lock, so that `send` does not submit an exchange after the cancellation.
            if !stage.hasExchange { life.stage = .over }
            return stage
        }
        switch stage {
        case .new, .preparing: endAsynchronously(error)
        case .running(let exchange):
            // Deferred if this is the loop: `hopEnded` must not be called inside another call of the client. `execute` fails only
            // if the loop has ended, and its exchanges with it.
            if let loop = flow.withLock({ $0.loop }), loop.isOnLoop {
                _ = loop.execute { exchange.cancel() }
            } else {
                exchange.cancel()
            }
        case .over: break
        }
    }

    func resumeReading() {
        let exchange = life.withLock { life -> Exchange? in
            guard case .running(let exchange) = life.stage else { return nil }
            life.hasPendingResume = life.isSuspended
            return life.isSuspended ? nil : exchange
        }
        if let exchange { resumeOnLoop(exchange) }
    }

    func save(into target: FileTarget) {
        // Content that has to be decoded cannot be spliced. It still goes to the client.
        let isPlain = flow.withLock { flow in
            if !flow.isDecoding { flow.goesToFile = true }
            return !flow.isDecoding
        }
        if isPlain { exchange?.save(into: target) }
    }

    /// Resumes in a new job on the loop. By then the client's `.pause` has taken effect. Pending input is decoded before new
    /// input is read.
    private func resumeOnLoop(_ exchange: Exchange) {
        guard let loop = flow.withLock({ $0.loop }) else { return }
        _ = loop.execute { self.continueReading(exchange) }
    }

    func skip() {
        guard let exchange = exchange else { return }
        flow.withLock { $0.discardsContent = true }
        exchange.skip()
    }

    func setSuspended(_ isSuspended: Bool) {
        let (exchange, hasPendingResume) = life.withLock { life -> (Exchange?, Bool) in
            life.isSuspended = isSuspended
            guard case .running(let exchange) = life.stage else { return (nil, false) }
            let resumesNow = life.hasPendingResume && !isSuspended
            if resumesNow { life.hasPendingResume = false }
            return (exchange, resumesNow)
        }
        guard let exchange else { return }
        exchange.setSuspended(isSuspended)
        if hasPendingResume { resumeOnLoop(exchange) }
    }

    func setPriority(_ priority: Float) {
        life.withLock { $0.priority = priority }
        exchange?.priority = priority
    }

    /// Whether an exchange is running.
    var isRunning: Bool { exchange != nil }

    private var exchange: Exchange? {
        life.withLock { life in
            if case .running(let exchange) = life.stage { return exchange }
            return nil
        }
    }

    // MARK: the end

    /// Ends a load without an exchange, unless it was cancelled meanwhile.
    private func failAsynchronously(_ error: URLError) {
        let isFirst = life.withLock { life -> Bool in
            guard !life.stage.hasExchange else { return false }
            life.stage = .over
            return true
        }
        if isFirst { endAsynchronously(error) }
    }

    /// Reports the end to the client on a loop, never in the caller's stack, unless no loop is available.
    private func endAsynchronously(_ error: URLError) {
        let end = { @Sendable in self.client.hopEnded(self, error, self.metrics([])) }
        if let group = try? EventLoopGroup.shared(), group.next().execute(end) { return }
        end()
    }

    /// Reports the end of the exchange to the client.
    func finish(_ result: Result<Fields, TransportError>, _ exchanges: [ExchangeMetrics]) {
        let (cancellation, stream) = life.withLock { life in
            life.stage = .over
            return (life.cancellation, life.stream)
        }
        let error = error(of: result, cancellation, stream?.failure)
        client.hopEnded(self, error, metrics(exchanges))
    }

    /// Whether the load was cancelled. Events of the exchange are then no longer passed on.
    var isCancelled: Bool { life.withLock { $0.cancellation != nil } }

    /// Returns the error that the hop ends with; nil if it has succeeded or its client wanted no more content.
    private func error(
        of result: Result<Fields, TransportError>, _ cancellation: URLError?, _ streamFailure: (any Error)?
    ) -> (any Error)? {
        let (failure, discardsContent, goesToFile) = flow.withLock {
            ($0.failure, $0.discardsContent, $0.goesToFile)
        }
        // Even if the exchange has succeeded, events after the cancellation were not passed on.
        if let cancellation { return cancellation }
        if let failure { return failure }
        guard case .failure(let error) = result else { return nil }
        let url = hopRequest.request.url
        if discardsContent, error == .cancelled { return nil }
        switch streamFailure {
        case let mismatch as BodyStreamSource.Mismatch:
            return URLError.loading(.requestBodyStreamExhausted, url: url, underlying: mismatch)
        // The stream's own error, unchanged (U-16.4).
        case let failure?: return failure
        case nil: break
        }
        // While the content goes into a file, a file error is about writing that file.
        if goesToFile, case .file = error {
            return URLError.loading(.cannotWriteToFile, url: url, underlying: error)
        }
        if case .timedOut(_, _, .whole, _) = error {
            return URLError.resourceTimeout(of: url, after: settings.resourceTimeout, underlying: error)
        }
        return URLError(error, url: url).adding(
            engine.tlsProfiles.userInfo(for: error, of: hopRequest.verifier))
    }

    /// Returns the metrics of the hop with these exchanges: the last one, and those that were replayed before.
    private func metrics(_ exchanges: [ExchangeMetrics]) -> HopMetrics {
        let (response, delivered) = flow.withLock { ($0.response, $0.delivered) }
        let sent = exchanges.last?.requestContentBytes ?? 0
        return HopMetrics(
            request: hopRequest.request, response: response, fetchType: .networkLoad, exchanges: exchanges,
            fetchStart: began, end: Date(), bodyBytesBeforeEncoding: sent,
            bodyBytesAfterDecoding: delivered)
    }
}
