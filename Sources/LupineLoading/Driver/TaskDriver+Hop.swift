// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTLS
internal import LupineTransport

/// Handles the calls of a hop: evaluates its response, delivers it if it is final, and passes everything else on to the client.
///
/// The calls of one hop never overlap. They do not overlap the machine's steps either, which run while there is no hop or while
/// the hop waits. Calls of a hop that is no longer the current one are ignored.
extension TaskDriver: HopLoadClient {
    // MARK: before the response

    func hopNeedsBodyStream(_ hop: any HopLoad, reply: @escaping @Sendable (BodyStream?) -> Void) {
        guard isActive(hop) else { return reply(nil) }
        setAlarm()
        client.driverNeedsBodyStream(reply: reply)
    }

    func hopSent(_ hop: any HopLoad, total: Int64, expected: Int64) {
        if isActive(hop) { client.driverSent(total: total, expected: expected) }
    }

    func hopReceivedInterimResponse(_ hop: any HopLoad, _ response: HTTPURLResponse) {
        if isActive(hop) { client.driverReceivedInterimResponse(response) }
    }

    func hopChallenged(
        _ hop: any HopLoad, _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard isActive(hop) else { return reply(.cancelAuthenticationChallenge, nil) }
        setAlarm()
        client.driverChallenged(challenge, reply: reply)
    }

    func hopUpgraded(_ hop: any HopLoad, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    {
        guard isActive(hop) else {
            connection.close()
            return UnwantedUpgrade()
        }
        return client.driverUpgraded(connection, response)
    }

    /// Whether `hop` is the current hop, and the load still passes its calls on.
    private func isActive(_ hop: any HopLoad) -> Bool {
        state.withLock { $0.hop === hop && $0.machine.isRunning }
    }

    // MARK: the response

    /// The part of the driver's state that the evaluation of a response needs.
    private struct ResponseInputs: Sendable {
        let request: URLRequest
        /// The request that was sent, without answers to challenges and conditional fields of the cache.
        let visibleRequest: URLRequest
        let cache: CacheUse
        let fetchStart: Date
        let redirectCount: Int
        let usesNetwork: Bool
        let judge: TrustJudge?
        /// Nil unless an answer to a challenge was sent or a challenge was received.
        let authenticator: Boxed<Authenticator>?
    }

    /// The decision about a response, and the changes of the driver's state that follow from it.
    private struct ResponseOutcome {
        var decision = HopMachine.ResponseDecision.deliver
        var authenticator: Boxed<Authenticator>?
        var question: Question?
        var cache: Boxed<CacheUse>?
        var ignoresCacheEntry = false
        /// Whether the next hop requests the whole resource instead of the rest of a download.
        var startsOver = false
    }

    func hopReceivedResponse(
        _ hop: any HopLoad, _ response: URLResponse, storagePolicy: URLCache.StoragePolicy
    )
        -> HopPlan
    {
        let status = (response as? HTTPURLResponse)?.statusCode
        let inputs = state.withLock { state -> ResponseInputs? in
            guard state.hop === hop, state.machine.awaitsResponse else { return nil }
            let needsAuthenticator =
                state.usesNetwork && (state.hasSentAnswer || status == 401 || status == 407)
            return ResponseInputs(
                request: state.request, visibleRequest: state.visibleRequest, cache: state.cache,
                fetchStart: state.fetchStart,
                redirectCount: state.redirectCount, usesNetwork: state.usesNetwork, judge: state.judge,
                authenticator: needsAuthenticator ? authenticator(for: state).map { .value($0) } : nil)
        }
        guard let inputs else { return .skip }
        let outcome = evaluate(response, of: hop, inputs, storagePolicy)
        // Replaced values are released outside of the lock.
        var (question, newResponse, cache): (Question?, URLResponse?, CacheUse?) = (
            outcome.question, response, outcome.cache?.value
        )
        let actions = state.withLock { state -> HopMachine.Actions in
            if let authenticator = outcome.authenticator { state.authenticator = authenticator }
            if var newCache = cache {
                swap(&state.cache, &newCache)
                cache = newCache
            }
            if outcome.ignoresCacheEntry { state.ignoresCacheEntry = true }
            if outcome.startsOver {
                state.request.setValue(nil, forHTTPHeaderField: "Range")
                state.request.setValue(nil, forHTTPHeaderField: "If-Range")
            }
            swap(&state.question, &question)
            swap(&state.response, &newResponse)
            let actions = state.machine.handle(.responseArrived(outcome.decision))
            // Until the question is answered or this call returns, other threads queue their actions for `askDuringCall`.
            if case .ask? = actions.steps.first { (state.isPerforming, state.queuesCommands) = (true, true) }
            return actions
        }
        if case .ask? = actions.steps.first { return askDuringCall(actions, hop) }
        var plan: HopPlan?
        for step in actions.steps { plan = performStep(step) ?? plan }
        return contentPlan(after: actions.command, hop, plan ?? .skip)
    }

    /// Asks the client inside the hop's call of `hopReceivedResponse`. If the client answers before it returns, the hop does not
    /// have to pause.
    private func askDuringCall(_ actions: HopMachine.Actions, _ hop: any HopLoad) -> HopPlan {
        var result = HopPlan.pause
        var actions: HopMachine.Actions? = actions
        while let current = actions {
            var plan: HopPlan?
            for step in current.steps { plan = performStep(step) ?? plan }
            result = contentPlan(after: current.command, hop, plan ?? result)
            actions = state.withLock { Self.popQueuedActions(&$0) }?.actions
        }
        return result
    }

    /// Returns the result of `hopReceivedResponse` that has the effect of the command: `plan`, unless the command ends the hop.
    private func contentPlan(after command: HopMachine.Command, _ hop: any HopLoad, _ plan: HopPlan)
        -> HopPlan
    {
        switch command {
        case .none, .start, .applyPlan: return plan
        case .skip: return .skip
        case .cancel(let error):
            hop.cancel(error)
            return .skip
        }
    }

    /// Decides about a response; stores its cookies and updates the cache.
    private func evaluate(
        _ response: URLResponse, of hop: any HopLoad, _ inputs: ResponseInputs,
        _ policy: URLCache.StoragePolicy
    ) -> ResponseOutcome {
        var outcome = ResponseOutcome()
        guard let response = response as? HTTPURLResponse else { return outcome }
        if inputs.usesNetwork {
            // Cookies are stored before any decision, so that the next hop sends them (U-10.6).
            HopAssembly.storeCookies(of: response, to: inputs.visibleRequest, context.settings) {
                // Nil: the cookies may also be sent where another judge decides.
                guard let evidence = hop.evidence, evidence.isUnproven(at: .now) else { return nil }
                return inputs.judge ?? judge
            }
            evaluateChallenge(response, inputs, &outcome)
            if case .deliver = outcome.decision { evaluateRedirect(response, inputs, &outcome) }
        }
        if case .deliver = outcome.decision, definition.mustStartOver?(response) ?? false {
            outcome.decision = .nextHop
            outcome.startsOver = true
        }
        if let cache = context.settings.cache {
            updateCache(response, of: hop, inputs, policy, cache, &outcome)
        }
        return outcome
    }

    private func evaluateChallenge(
        _ response: HTTPURLResponse, _ inputs: ResponseInputs, _ outcome: inout ResponseOutcome
    ) {
        guard var authenticator = inputs.authenticator?.value else { return }
        authenticator.taskCredential = client.driverCredential
        (outcome.decision, outcome.question) = Self.decision(for: authenticator.receive(response), nil)
        outcome.authenticator = .value(authenticator)
    }

    /// Returns the decision, and the question if the client is asked, for an authenticator's verdict.
    ///
    /// - Parameters:
    ///   - verdict: The verdict about a response or an answer.
    ///   - refusal: The error of a refused tunnel; nil if there is a response to deliver.
    static func decision(for verdict: Authenticator.Verdict, _ refusal: URLError?)
        -> (HopMachine.ResponseDecision, Question?)
    {
        switch verdict {
        case .deliver: (refusal.map { .fail($0) } ?? .deliver, nil)
        case .resend: (.nextHop, nil)
        case .ask(let challenge): (.ask, .challenge(challenge, refusal: refusal))
        case .cancel: (.fail(.cancelled(url: nil)), nil)
        }
    }

    private func evaluateRedirect(
        _ response: HTTPURLResponse, _ inputs: ResponseInputs, _ outcome: inout ResponseOutcome
    ) {
        switch RedirectRule.verdict(
            on: response, to: inputs.request, context.settings.lupine,
            redirectCount: inputs.redirectCount, isWebSocket: definition.kind == .webSocket)
        {
        case .none: break
        case .proposal(let proposal):
            outcome.decision = .ask
            outcome.question = .redirect(response, proposal)
        case .failure(let error):
            outcome.decision = .fail(error)
        }
    }

    /// Removes the entries that the response invalidates (RFC 9111 §4.4), handles a 304, or starts to collect the content.
    private func updateCache(
        _ response: HTTPURLResponse, of hop: any HopLoad, _ inputs: ResponseInputs,
        _ policy: URLCache.StoragePolicy, _ cache: URLCache, _ outcome: inout ResponseOutcome
    ) {
        for url in CacheRule.invalidatedURLs(by: inputs.request, response: response) {
            cache.invalidate(url)
        }
        guard case .deliver = outcome.decision else { return }
        var use = inputs.cache
        if let entry = use.takeRevalidated() {
            if response.statusCode == 304 {
                let makeProvenance = { [self] in provenance(of: hop, inputs, use.requester) }
                return handleNotModified(response, of: entry, use, inputs, cache, makeProvenance, &outcome)
            }
        }
        guard use.storageRequest != nil else { return }
        let requester = use.requester
        let isCollecting = use.beginCollecting(response, policy, for: cache, at: context.clock.date()) {
            provenance(of: hop, inputs, requester)
        }
        if isCollecting { outcome.cache = .value(use) }
    }

    /// Handles a 304 (RFC 9111 §4.3.4): delivers the stored response, or repeats the request without the cache if the 304 is
    /// about a version that is not stored (U-12.13).
    private func handleNotModified(
        _ response: HTTPURLResponse, of entry: CacheEntry, _ use: CacheUse, _ inputs: ResponseInputs,
        _ cache: URLCache, _ makeProvenance: () -> CacheProvenance, _ outcome: inout ResponseOutcome
    ) {
        guard let stored = entry.httpResponse, CacheRule.selects(response, stored) else {
            outcome.decision = .nextHop
            outcome.ignoresCacheEntry = true
            return
        }
        let request = use.storageRequest ?? inputs.request
        // Nil if the stored content and the 304 are for different users: the entry is then delivered, but not stored.
        let joined = entry.provenance.joined(by: makeProvenance())
        let refreshed = entry.refreshed(
            by: response, for: request, requestTime: inputs.fetchStart, responseTime: context.clock.date(),
            provenance: joined ?? entry.provenance, identifying: context.settings.identifyingFields)
        if use.storageRequest != nil, joined != nil { cache.update(refreshed, for: request) }
        outcome.decision = .deliverCached
        outcome.cache = .value(CacheUse(deliveredEntry: refreshed))
    }

    /// Returns the provenance of the hop's content. If another judge than the default evaluation has accepted the connection, the
    /// first call runs the default evaluation, on the connection's loop. Called only for responses that may be stored.
    private func provenance(
        of hop: any HopLoad, _ inputs: ResponseInputs, _ requester: CacheRequester?
    ) -> CacheProvenance {
        guard inputs.usesNetwork else { return .program }
        // Without evidence, the connection did not use TLS.
        guard let evidence = hop.evidence else {
            guard let route = requester?.route else { return .plain }
            return CacheProvenance(
                .plain(route: context.engine.takenCacheRoute(route, to: inputs.visibleRequest.url)))
        }
        let facts = evidence.chainFacts(at: .now)
        return CacheProvenance(
            .secure(
                CacheProvenance.Connection(
                    identity: evidence.identity, roots: facts.passesDefault ? evidence.rootsName : nil,
                    keys: facts.keys, judge: requester?.judge,
                    isChainChecked: evidence.acceptance != .unchecked))
        )
    }

    // MARK: the content

    func hopWantsSeparateChunks(_ hop: any HopLoad) -> Bool { client.driverWantsSeparateChunks }

    func hopReceivedContent(_ hop: any HopLoad, _ data: Data) -> Demand {
        let (isWanted, invalidatedURL) = state.withLock { state -> (Bool, URL?) in
            guard state.hop === hop, state.machine.isRunning else { return (false, nil) }
            // Content that has become too long is not stored: the entry that it supersedes is removed.
            return (true, state.cache.collect(data) ? nil : state.cache.invalidatedURL)
        }
        guard isWanted else { return .enough }
        if let invalidatedURL { context.settings.cache?.invalidate(invalidatedURL) }
        return noteDemand(client.driverReceivedContent(data))
    }

    func hopSpliced(_ hop: any HopLoad, _ count: Int) -> Demand {
        guard isActive(hop) else { return .enough }
        return noteDemand(client.driverSpliced(count))
    }

    /// Stops collecting content for the cache if the client wants no more of it. Returns `demand`.
    private func noteDemand(_ demand: Demand) -> Demand {
        switch demand {
        case .more, .pause: break
        case .enough: state.withLock { $0.cache.stopCollecting() }
        }
        return demand
    }

    // MARK: redirects of a URLProtocol, and the end

    func hopRedirected(_ hop: any HopLoad, to request: URLRequest, response: URLResponse) {
        let count = state.withLock { state in
            state.hop === hop && state.machine.awaitsResponse ? state.redirectCount : nil
        }
        guard let count else { return }
        let isAllowed = count < RedirectRule.limit
        let decision: HopMachine.ResponseDecision =
            isAllowed
            ? .ask
            : .fail(RedirectRule.tooManyRedirects(from: response.url, to: request.url?.absoluteString))
        // Replaced values are released outside of the lock.
        var (newResponse, question): (URLResponse?, Question?) = (
            response, .protocolRedirect(response, request)
        )
        handle(.responseArrived(decision)) { state in
            guard state.hop === hop, state.machine.awaitsResponse else { return }
            swap(&state.response, &newResponse)
            swap(&state.question, &question)
        }
    }

    func hopEnded(_ hop: any HopLoad, _ error: (any Error)?, _ metrics: HopMetrics) {
        var authenticator: Authenticator?
        var refusal: (HopMachine.ResponseDecision, Question?)?
        let urlError = error as? URLError
        if let error = urlError, let head = Self.refusedTunnel(error),
            var found = state.withLock({ $0.machine.awaitsResponse ? $0.authenticator?.value : nil })
        {
            found.taskCredential = client.driverCredential
            refusal = Self.decision(for: found.receiveTunnelRefusal(head), error)
            authenticator = found
        }
        let end = error.map(HopMachine.HopEnd.failure) ?? .success
        let hasConnected = metrics.hasConnected
        let actions = state.withLock { state -> HopMachine.Actions? in
            guard state.hop === hop else { return nil }
            state.hop = nil
            state.hasConnected = state.hasConnected || hasConnected
            state.hops.append(metrics)
            var meaning = HopMachine.HopEndMeaning.endLoad
            if let (decision, question) = refusal, let authenticator {
                state.authenticator = .value(authenticator)
                state.question = question
                meaning = .refusedByProxy(decision)
            } else if error != nil {
                let waits = context.settings.waitsForConnectivity && state.usesNetwork
                if waits, urlError?.code == .notConnectedToInternet, !state.hasConnected {
                    meaning = .noNetwork
                }
            } else if state.cache.isCollecting {
                meaning = .storable
            }
            return Self.claim(state.machine.handle(.hopEnded(end, meaning)), &state)
        }
        // These actions contain no command, so that they need no hop.
        if let actions { performActions(actions, nil) }
    }

    /// Returns the response head with which a proxy has refused to open a tunnel without authentication (U-11.17); nil for other
    /// errors.
    private static func refusedTunnel(_ error: URLError) -> ResponseHead? {
        guard let cause = error.userInfo[NSUnderlyingErrorKey] as? TransportError,
            case .tunnel(_, .authenticationRequired(let head)) = cause
        else { return nil }
        return head
    }
}

extension HopMetrics {
    /// Whether a connection was established.
    fileprivate var hasConnected: Bool {
        exchanges.contains { $0.isReused || $0.requestStart != nil || $0.dial?.connectEnd != nil }
    }
}

/// Handles the upgraded connection of a hop that is no longer active.
private final class UnwantedUpgrade: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}
