// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport

/// Carries out one hop over the network: a request with its response, which is one `Exchange` of the transport.
///
/// The load receives the events of the exchange, and calls its client directly on the connection's loop. The client is the driver
/// of the task, which follows redirects, answers challenges and uses the cache. `NetworkLoad+Receiving.swift` contains the
/// methods that receive the response.
final class NetworkLoad: HopLoad {
    let hopRequest: HopRequest
    let client: any HopLoadClient
    let settings: SessionSettings
    private let engine: SessionEngine
    private let creationDate = Date()
    private let state: Lock<State>
    /// The state of the response while it is received.
    let responseState = Lock(ResponseState())

    /// The state of the load, which the program's calls change on any thread.
    private struct State: Sendable {
        var phase = Phase.new
        /// The error that the load was cancelled with; nil if it was not cancelled.
        var cancellation: URLError?
        /// Whether the hop is suspended.
        var isSuspended = false
        /// Whether the client has called `resumeReading()` while the load was suspended.
        var hasPendingResume = false
        /// The priority, 0...1, among the exchanges that wait for a connection.
        var priority: Float
        /// The reader of a body that is a stream; nil for other bodies.
        var stream: BodyStreamSource?
    }

    private enum Phase: Sendable {
        /// `start()` has not been called.
        case new
        /// The load makes the `SendingPlan`, or waits for the body's stream from the client.
        case preparing
        case running(Exchange)
        /// The load has ended.
        case over

        /// Whether the load has an exchange, or has ended.
        var isPastPreparation: Bool {
            switch self {
            case .new, .preparing: false
            case .running, .over: true
            }
        }
    }

    /// Creates a load of `request` with the settings and the engine of a session.
    convenience init(_ request: HopRequest, context: SessionContext, client: any HopLoadClient) {
        self.init(request, settings: context.settings, engine: context.engine, client: client)
    }

    /// Creates a load of `request`. `engine` opens and shares the connections.
    init(
        _ request: HopRequest, settings: SessionSettings, engine: SessionEngine, client: any HopLoadClient
    ) {
        hopRequest = request
        self.client = client
        self.settings = settings
        self.engine = engine
        state = Lock(State(priority: request.priority))
    }

    // MARK: calls of the driver

    func start() {
        let isFirstCall = state.withLock { state -> Bool in
            guard case .new = state.phase else { return false }
            state.phase = .preparing
            return true
        }
        // Also false after a cancellation, which has reported the end already.
        guard isFirstCall else { return }
        do throws(URLError) {
            let plan = try SendingPlan(hopRequest, settings, engine)
            switch plan.body {
            case .none, .data, .file: send(plan, stream: nil)
            case .stream(let stream):
                send(plan, stream: BodyStreamSource(stream, length: plan.length))
            case .suppliedByClient:
                client.hopNeedsBodyStream(self) { stream in self.sendSuppliedStream(stream, for: plan) }
            }
        } catch { failAsynchronously(error) }
    }

    /// Sends the request with the stream that the client has supplied; fails if the client has none.
    private func sendSuppliedStream(_ stream: BodyStream?, for plan: SendingPlan) {
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
        send(plan, stream: source)
    }

    /// Creates the exchange, and submits it unless the load was cancelled meanwhile.
    ///
    /// - Parameters:
    ///   - plan: The request in the terms of the transport.
    ///   - stream: The reader of a body that is a stream; nil for other bodies.
    private func send(_ plan: SendingPlan, stream: BodyStreamSource?) {
        let exchange = Exchange(
            head: plan.head, content: plan.content(stream), origin: plan.origin, options: plan.options,
            observation: hopRequest.transfer.flatMap { engine.reporter?.observation(of: $0) },
            preferring: hopRequest.loop, at: settings.clock.transport.now(), sink: self)
        responseState.withLock { $0.sendProgress = SendProgress(expectedBytes: plan.length) }
        let isWanted = state.withLock { state -> Bool in
            guard case .preparing = state.phase else { return false }
            state.phase = .running(exchange)
            state.stream = stream
            exchange.priority = state.priority
            exchange.setSuspended(state.isSuspended)
            return true
        }
        if isWanted { engine.submit(exchange, isWebSocket: hopRequest.isUpgrade) } else { stream?.abandon() }
    }

    func cancel(_ error: URLError) {
        let phase = state.withLock { state -> Phase in
            let phase = state.phase
            if state.cancellation == nil { state.cancellation = error }
            // Changed under the same lock as `cancellation`, so that `send` cannot submit an exchange after the cancellation.
            if !phase.isPastPreparation { state.phase = .over }
            return phase
        }
        switch phase {
        case .new, .preparing: endAsynchronously(error)
        case .running(let exchange):
            // On the loop, the cancellation is deferred to a new job: it calls `hopEnded`, which must not run inside another call
            // of the client. The result of `execute` is ignored: it fails only if the loop has ended, and then the loop's
            // exchanges have ended too.
            if let loop = responseState.withLock({ $0.loop }), loop.isOnLoop {
                _ = loop.execute { exchange.cancel() }
            } else {
                exchange.cancel()
            }
        case .over: break
        }
    }

    func resumeReading() {
        let exchange = state.withLock { state -> Exchange? in
            guard case .running(let exchange) = state.phase else { return nil }
            // A suspended load resumes when its suspension ends.
            state.hasPendingResume = state.isSuspended
            return state.isSuspended ? nil : exchange
        }
        if let exchange { resumeOnLoop(exchange) }
    }

    func save(into target: FileTarget) {
        // The kernel cannot decode: content that has to be decoded still goes to the client and not to the file.
        let isPlain = responseState.withLock { responseState in
            if !responseState.isDecoding { responseState.goesToFile = true }
            return !responseState.isDecoding
        }
        if isPlain { exchange?.save(into: target) }
    }

    /// Resumes in a new job on the loop, because the client may resume before its answer `.pause` has taken effect. Pending input
    /// is decoded before new input is read.
    private func resumeOnLoop(_ exchange: Exchange) {
        guard let loop = responseState.withLock({ $0.loop }) else { return }
        // The result is ignored: if the loop has ended, so has the exchange.
        _ = loop.execute { self.continueReading(exchange) }
    }

    func skip() {
        guard let exchange = exchange else { return }
        responseState.withLock { $0.discardsContent = true }
        exchange.skip()
    }

    func setSuspended(_ isSuspended: Bool) {
        let (exchange, resumesNow) = state.withLock { state -> (Exchange?, Bool) in
            state.isSuspended = isSuspended
            guard case .running(let exchange) = state.phase else { return (nil, false) }
            let resumesNow = state.hasPendingResume && !isSuspended
            if resumesNow { state.hasPendingResume = false }
            return (exchange, resumesNow)
        }
        guard let exchange else { return }
        exchange.setSuspended(isSuspended)
        if resumesNow { resumeOnLoop(exchange) }
    }

    func setPriority(_ priority: Float) {
        state.withLock { $0.priority = priority }
        exchange?.priority = priority
    }

    /// Whether an exchange is running.
    var isRunning: Bool { exchange != nil }

    /// The running exchange; nil before it is created and after the end.
    private var exchange: Exchange? {
        state.withLock { state in
            if case .running(let exchange) = state.phase { return exchange }
            return nil
        }
    }

    // MARK: the end

    /// Ends a load that has no exchange, unless it was cancelled meanwhile. The client is called on a loop.
    private func failAsynchronously(_ error: URLError) {
        let endsNow = state.withLock { state -> Bool in
            guard !state.phase.isPastPreparation else { return false }
            state.phase = .over
            return true
        }
        if endsNow { endAsynchronously(error) }
    }

    /// Reports the end to the client in a new job of a loop. If no loop is available, reports it on the caller's stack.
    private func endAsynchronously(_ error: URLError) {
        let end = { @Sendable in self.client.hopEnded(self, error, self.metrics(of: [])) }
        // `execute` returns false if the loop has ended.
        if let group = try? EventLoopGroup.shared(), group.next().execute(end) { return }
        end()
    }

    /// Ends the load after its exchange, and reports the end to the client. `exchanges` are the metrics of the attempts.
    func finish(_ result: Result<Fields, TransportError>, _ exchanges: [ExchangeMetrics]) {
        let (cancellation, stream) = state.withLock { state in
            state.phase = .over
            return (state.cancellation, state.stream)
        }
        let end = responseState.withLock { $0.end }
        // Checked first: even if the exchange has succeeded, the client has not received the events after the cancellation.
        let error =
            cancellation
            ?? end.error(of: result, hopRequest.request.url, stream?.failure) { networkError(of: $0) }
        client.hopEnded(self, error, metrics(of: exchanges))
    }

    /// Returns the error of a hop whose exchange has failed for a reason of the network.
    private func networkError(of failure: TransportError) -> URLError {
        let url = hopRequest.request.url
        if case .timedOut(_, _, .whole, _) = failure {
            return .resourceTimeout(of: url, after: settings.resourceTimeout, underlying: failure)
        }
        // The added `userInfo` contains the trust of a server that was refused (U-11.19).
        return URLError(failure, url: url).adding(
            engine.tlsProfiles.userInfo(for: failure, of: hopRequest.verifier))
    }

    /// Whether the load was cancelled. The load then passes no more events of the exchange on to the client.
    var isCancelled: Bool { state.withLock { $0.cancellation != nil } }

    /// Returns the metrics of the hop.
    ///
    /// - Parameter exchanges: The metrics of all attempts to send the request, in order. All attempts but the last have failed.
    private func metrics(of exchanges: [ExchangeMetrics]) -> HopMetrics {
        let (response, deliveredBytes) = responseState.withLock { ($0.response, $0.deliveredBytes) }
        let sentBytes = exchanges.last?.requestContentBytes ?? 0
        return HopMetrics(
            request: hopRequest.request, response: response, fetchType: .networkLoad, exchanges: exchanges,
            fetchStart: creationDate, end: Date(), bodyBytesBeforeEncoding: sentBytes,
            bodyBytesAfterDecoding: deliveredBytes)
    }
}
