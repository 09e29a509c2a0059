// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport

/// One transaction over the network, carried by an exchange of the transport.
///
/// It is the exchange's sink, and calls its client directly in the turn of the connection's loop. Redirects, challenges and
/// caching are left to the driver. `NetworkLoad+Receiving` is the receiving half.
final class NetworkLoad: HopLoad {
    let hop: HopRequest
    let client: any HopLoadClient
    let settings: SessionSettings
    private let engine: SessionEngine
    private let began = Date()
    private let life: Lock<Life>
    /// The state of the response as it is received.
    let flow = Lock(ResponseFlow())

    private struct Life: Sendable {
        var stage = Stage.new
        /// The error that it was cancelled with.
        var cancellation: URLError?
        var isSuspended = false
        /// Whether the client called `resumeReading()` while the load was suspended.
        var owesResume = false
        var priority: Float
        var stream: BodyStreamSource?
    }

    private enum Stage: Sendable {
        case new
        /// The plan and the body's stream are being prepared.
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

    /// A load of `request` in a session.
    convenience init(_ request: HopRequest, context: SessionContext, client: any HopLoadClient) {
        self.init(request, settings: context.settings, engine: context.engine, client: client)
    }

    /// A load of `request` over an engine.
    init(
        _ request: HopRequest, settings: SessionSettings, engine: SessionEngine, client: any HopLoadClient
    ) {
        hop = request
        self.client = client
        self.settings = settings
        self.engine = engine
        life = Lock(Life(priority: request.priority))
    }

    // MARK: the driver's side

    func start() {
        let isFirst = life.withLock { life -> Bool in
            guard case .new = life.stage else { return false }
            life.stage = .preparing
            return true
        }
        guard isFirst else { return }
        do throws(URLError) {
            let plan = try SendingPlan(hop, settings, engine)
            switch plan.body {
            case .none, .data, .file: send(plan, nil)
            case .stream(let stream): send(plan, BodyStreamSource(stream, length: plan.length))
            case .asked:
                client.hopNeedsBodyStream(self) { stream in self.supplied(stream, for: plan) }
            }
        } catch { failSoon(error) }
    }

    private func supplied(_ stream: BodyStream?, for plan: SendingPlan) {
        guard let stream else {
            return failSoon(
                .loading(
                    .requestBodyStreamExhausted, url: hop.request.url,
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

    private func send(_ plan: SendingPlan, _ stream: BodyStreamSource?) {
        let exchange = Exchange(
            head: plan.head, content: plan.content(stream), origin: plan.origin, options: plan.options,
            observation: hop.transfer.flatMap { engine.reporter?.observation(of: $0) },
            preferring: hop.loop, at: settings.clock.transport.now(), sink: self)
        flow.withLock { $0.progress = SendProgress(expected: plan.length) }
        let isWanted = life.withLock { life -> Bool in
            guard case .preparing = life.stage else { return false }
            life.stage = .running(exchange)
            life.stream = stream
            exchange.priority = life.priority
            exchange.setSuspended(life.isSuspended)
            return true
        }
        if isWanted { engine.submit(exchange, isWebSocket: hop.isUpgrade) } else { stream?.abandon() }
    }

    func cancel(_ error: URLError) {
        let stage = life.withLock { life -> Stage in
            let stage = life.stage
            if life.cancellation == nil { life.cancellation = error }
            // Under the same lock, so that what `start` has prepared meanwhile is not sent.
            if !stage.hasExchange { life.stage = .over }
            return stage
        }
        switch stage {
        case .new, .preparing: endSoon(error)
        case .running(let exchange):
            // Deferred when on the loop: `hopEnded` must not come inside another call to the client.
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
            life.owesResume = life.isSuspended
            return life.isSuspended ? nil : exchange
        }
        if let exchange { goOn(exchange) }
    }

    func save(into target: FileTarget) {
        // Decoded content cannot be spliced; it is still delivered.
        let isPlain = flow.withLock { flow in
            if !flow.decodes { flow.isSaved = true }
            return !flow.decodes
        }
        if isPlain { exchange?.save(into: target) }
    }

    /// Runs as a job of its own on the loop: only there is it certain whether the client has paused, and input that is still to
    /// be decoded comes before anything new.
    private func goOn(_ exchange: Exchange) {
        guard let loop = flow.withLock({ $0.loop }) else { return }
        _ = loop.execute { self.goOnReading(exchange) }
    }

    func skip() {
        guard let exchange = exchange else { return }
        flow.withLock { $0.hasEnough = true }
        exchange.skip()
    }

    func setSuspended(_ isSuspended: Bool) {
        let (exchange, owesResume) = life.withLock { life -> (Exchange?, Bool) in
            life.isSuspended = isSuspended
            guard case .running(let exchange) = life.stage else { return (nil, false) }
            let owes = life.owesResume && !isSuspended
            if owes { life.owesResume = false }
            return (exchange, owes)
        }
        guard let exchange else { return }
        exchange.setSuspended(isSuspended)
        if owesResume { goOn(exchange) }
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

    /// Ends a load without an exchange, unless it has been cancelled meanwhile.
    private func failSoon(_ error: URLError) {
        let isFirst = life.withLock { life -> Bool in
            guard !life.stage.hasExchange else { return false }
            life.stage = .over
            return true
        }
        if isFirst { endSoon(error) }
    }

    /// Reports the end to the client on a loop, never in the caller's stack, unless no loop is available.
    private func endSoon(_ error: URLError) {
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

    /// Whether the load was cancelled: nothing that is received later is passed on.
    var isCancelled: Bool { life.withLock { $0.cancellation != nil } }

    private func error(
        of result: Result<Fields, TransportError>, _ cancellation: URLError?, _ streamFailure: (any Error)?
    ) -> (any Error)? {
        let (failure, hasEnough, isSaved) = flow.withLock { ($0.failure, $0.hasEnough, $0.isSaved) }
        // Also if the exchange has succeeded: what was received after the cancellation has not been passed on.
        if let cancellation { return cancellation }
        if let failure { return failure }
        guard case .failure(let error) = result else { return nil }
        let url = hop.request.url
        if hasEnough, error == .cancelled { return nil }
        switch streamFailure {
        case let mismatch as BodyStreamSource.Mismatch:
            return URLError.loading(.requestBodyStreamExhausted, url: url, underlying: mismatch)
        // The stream's own error, unchanged (U-16.4).
        case let failure?: return failure
        case nil: break
        }
        // Once a response is being saved, only writing its file can fail like this.
        if isSaved, case .file = error {
            return URLError.loading(.cannotWriteToFile, url: url, underlying: error)
        }
        if case .timedOut(_, _, .whole, _) = error {
            return URLError.tooLong(url, after: settings.resourceTimeout, underlying: error)
        }
        return URLError(error, url: url).adding(engine.tlsProfiles.userInfo(for: error, of: hop.taskTrust))
    }

    private func metrics(_ exchanges: [ExchangeMetrics]) -> HopMetrics {
        let (response, delivered) = flow.withLock { ($0.response, $0.delivered) }
        let sent = exchanges.last?.requestContentBytes ?? 0
        return HopMetrics(
            request: hop.request, response: response, fetchType: .networkLoad, exchanges: exchanges,
            fetchStart: began, end: Date(), bodyBytesBeforeEncoding: sent,
            bodyBytesAfterDecoding: delivered)
    }
}
