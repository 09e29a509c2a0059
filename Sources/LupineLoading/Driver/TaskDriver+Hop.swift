// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTLS
internal import LupineTransport

/// Receives the calls of a hop, which is one request of the load with its response. The driver evaluates the response and
/// delivers it if it is final. It passes all other calls on to its client, the task.
///
/// The calls of one hop never overlap. They do not overlap the machine's steps either, which run while there is no hop or while
/// the hop waits. The driver ignores the calls of any hop but the current one.
extension TaskDriver: HopLoadClient {
    // MARK: before the response

    func hopNeedsBodyStream(_ hop: any HopLoad, reply: @escaping @Sendable (BodyStream?) -> Void) {
        guard isActive(hop) else { return reply(nil) }
        // No connection enforces the resource time-out while the program makes the stream.
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
        // No connection enforces the resource time-out while the program answers.
        setAlarm()
        client.driverChallenged(challenge, reply: reply)
    }

    func hopUpgraded(_ hop: any HopLoad, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    {
        guard isActive(hop) else {
            connection.close()
            return InactiveHopUpgradeHandler()
        }
        return client.driverUpgraded(connection, response)
    }

    /// Whether `hop` is the current hop, and the driver passes its calls on to the client.
    private func isActive(_ hop: any HopLoad) -> Bool {
        state.withLock { $0.hop === hop && $0.machine.isRunning }
    }

    // MARK: the response

    /// The members of the driver's state that the evaluation of a response reads.
    private struct ResponseInputs: Sendable {
        let request: URLRequest
        /// The request that was sent, without answers to challenges and conditional fields of the cache.
        let visibleRequest: URLRequest
        let cacheUse: CacheUse
        let fetchStart: Date
        let redirectCount: Int
        let usesNetwork: Bool
        /// The judge of the server; nil if storing cookies and responses does not depend on it.
        let judge: TrustJudge?
        /// Nil unless the hop has sent an answer to a challenge or received a challenge.
        let authenticator: Boxed<Authenticator>?
    }

    /// The decision about a response, and the changes of the driver's state that follow from it.
    private struct ResponseOutcome {
        var decision = HopMachine.ResponseDecision.deliver
        /// The new authenticator; nil if it has not changed.
        var authenticator: Boxed<Authenticator>?
        /// The question to ask the client; nil for none.
        var question: Question?
        /// The new use of the cache; nil if it has not changed.
        var cacheUse: Boxed<CacheUse>?
        /// Whether the next hop must not use the cache entry.
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
            let isChallenge = status == 401 || status == 407
            let needsAuthenticator = state.usesNetwork && (state.hasSentAnswer || isChallenge)
            return ResponseInputs(
                request: state.request, visibleRequest: state.visibleRequest, cacheUse: state.cacheUse,
                fetchStart: state.fetchStart,
                redirectCount: state.redirectCount, usesNetwork: state.usesNetwork, judge: state.judge,
                authenticator: needsAuthenticator ? authenticator(for: state).map { .value($0) } : nil)
        }
        guard let inputs else { return .skip }
        let outcome = evaluate(response, of: hop, inputs, storagePolicy)
        // These variables are swapped with the state below, so that the replaced values are released outside of the lock.
        var (question, newResponse, cacheUse): (Question?, URLResponse?, CacheUse?) = (
            outcome.question, response, outcome.cacheUse?.value
        )
        let actions = state.withLock { state -> HopMachine.Actions in
            if let authenticator = outcome.authenticator { state.authenticator = authenticator }
            // Unwrapped, because `swap` needs the same type. Afterwards `cacheUse` retains the replaced value.
            if var swappedUse = cacheUse {
                swap(&state.cacheUse, &swappedUse)
                cacheUse = swappedUse
            }
            if outcome.ignoresCacheEntry { state.ignoresCacheEntry = true }
            if outcome.startsOver {
                state.request.setValue(nil, forHTTPHeaderField: "Range")
                state.request.setValue(nil, forHTTPHeaderField: "If-Range")
            }
            swap(&state.question, &question)
            swap(&state.response, &newResponse)
            let actions = state.machine.handle(.responseArrived(outcome.decision))
            // Until `askDuringCall` has returned, other threads queue their actions for it.
            if case .ask? = actions.steps.first {
                state.isPerformingSteps = true
                state.queuesCommands = true
            }
            return actions
        }
        if case .ask? = actions.steps.first { return askDuringCall(actions, hop) }
        var plan: HopPlan?
        // Only a step that delivers the response returns a plan.
        for step in actions.steps { plan = performStep(step) ?? plan }
        return contentPlan(after: actions.command, hop, plan ?? .skip)
    }

    /// Asks the client inside the hop's call of `hopReceivedResponse`, and returns the result of that call. If the client answers
    /// before it returns, the hop does not have to pause.
    private func askDuringCall(_ actions: HopMachine.Actions, _ hop: any HopLoad) -> HopPlan {
        var result = HopPlan.pause
        var actions: HopMachine.Actions? = actions
        while let current = actions {
            var plan: HopPlan?
            // Only a step that delivers the response returns a plan.
            for step in current.steps { plan = performStep(step) ?? plan }
            result = contentPlan(after: current.command, hop, plan ?? result)
            // The actions that follow from an answer of the client, if there was one.
            actions = state.withLock { Self.popQueuedActions(&$0) }?.actions
        }
        return result
    }

    /// Returns the result of `hopReceivedResponse` that carries out the command: `plan`, or `.skip` if the command ends the hop.
    /// Cancels the hop if that is the command.
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

    /// Decides what follows from a response. Stores the response's cookies and updates the cache.
    private func evaluate(
        _ response: URLResponse, of hop: any HopLoad, _ inputs: ResponseInputs,
        _ policy: URLCache.StoragePolicy
    ) -> ResponseOutcome {
        var outcome = ResponseOutcome()
        guard let response = response as? HTTPURLResponse else { return outcome }
        if inputs.usesNetwork {
            // Cookies are stored before any decision, so that the next hop sends them (U-10.6).
            HopAssembly.storeCookies(of: response, to: inputs.visibleRequest, context.settings) {
                // Called if cookies are stored. Nil means that the cookies may also be sent to servers that another judge has
                // accepted. `isUnproven` means that the default evaluation rejects a server that was accepted without a check.
                guard let evidence = hop.evidence, evidence.isUnproven(at: .now) else { return nil }
                return inputs.judge ?? judge
            }
            evaluateChallenge(response, inputs, &outcome)
            if case .deliver = outcome.decision { evaluateRedirect(response, inputs, &outcome) }
        }
        // Only a resumed download has this closure. It returns true if the response cannot be appended to the downloaded part.
        if case .deliver = outcome.decision, definition.mustStartOver?(response) ?? false {
            outcome.decision = .nextHop
            outcome.startsOver = true
        }
        if let cache = context.settings.cache {
            updateCache(response, of: hop, inputs, policy, cache, &outcome)
        }
        return outcome
    }

    /// Sets the decision about a challenge, or about the response to an answer.
    private func evaluateChallenge(
        _ response: HTTPURLResponse, _ inputs: ResponseInputs, _ outcome: inout ResponseOutcome
    ) {
        guard var authenticator = inputs.authenticator?.value else { return }
        // The program may have replaced the task's credential since the request was sent.
        authenticator.taskCredential = client.driverCredential
        // `refusal` is nil, because there is a response and not a refused tunnel.
        (outcome.decision, outcome.question) = Self.decision(
            for: authenticator.receive(response), refusal: nil)
        outcome.authenticator = .value(authenticator)
    }

    /// Returns the decision that follows from an authenticator's verdict, and the question if the client has to be asked.
    ///
    /// - Parameters:
    ///   - verdict: The verdict about a response, or about the client's answer to a challenge.
    ///   - refusal: The error of a refused tunnel; nil if there is a response to deliver.
    static func decision(for verdict: Authenticator.Verdict, refusal: URLError?)
        -> (decision: HopMachine.ResponseDecision, question: Question?)
    {
        switch verdict {
        case .deliver: (refusal.map { .fail($0) } ?? .deliver, nil)
        case .resend: (.nextHop, nil)
        case .ask(let challenge): (.ask, .challenge(challenge, refusal: refusal))
        case .cancel: (.fail(.cancelled(url: nil)), nil)
        }
    }

    /// Sets the decision and the question if the response is a redirect.
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

    /// Removes the entries that the response invalidates (RFC 9111 §4.4). If the response is delivered, evaluates a 304 or starts
    /// to collect the content for the cache.
    private func updateCache(
        _ response: HTTPURLResponse, of hop: any HopLoad, _ inputs: ResponseInputs,
        _ policy: URLCache.StoragePolicy, _ cache: URLCache, _ outcome: inout ResponseOutcome
    ) {
        for url in CacheRule.invalidatedURLs(by: inputs.request, response: response) {
            cache.invalidate(url)
        }
        guard case .deliver = outcome.decision else { return }
        var cacheUse = inputs.cacheUse
        if let entry = cacheUse.takeRevalidatedEntry() {
            if response.statusCode == 304 {
                let makeProvenance = { [self] in provenance(of: hop, inputs, cacheUse.requester) }
                return applyNotModified(
                    response, to: entry, cacheUse, inputs, cache, makeProvenance, &outcome)
            }
        }
        guard cacheUse.storageRequest != nil else { return }
        let requester = cacheUse.requester
        let isCollecting = cacheUse.beginCollecting(response, policy, for: cache, at: context.clock.date()) {
            provenance(of: hop, inputs, requester)
        }
        if isCollecting { outcome.cacheUse = .value(cacheUse) }
    }

    /// Applies a 304 (Not Modified) to the entry that it confirms (RFC 9111 §4.3.4): the load then delivers the entry. If the 304
    /// is about a version that is not stored, the load repeats the request without the cache (U-12.13).
    private func applyNotModified(
        _ response: HTTPURLResponse, to entry: CacheEntry, _ cacheUse: CacheUse, _ inputs: ResponseInputs,
        _ cache: URLCache, _ makeProvenance: () -> CacheProvenance, _ outcome: inout ResponseOutcome
    ) {
        // `selects` returns false if the 304 is about another version of the resource than the stored one.
        guard let stored = entry.httpResponse, CacheRule.selects(response, stored) else {
            outcome.decision = .nextHop
            outcome.ignoresCacheEntry = true
            return
        }
        let request = cacheUse.storageRequest ?? inputs.request
        // Nil if no requester may receive both the stored content and the 304. The entry is then delivered, but not stored.
        let joined = entry.provenance.joined(by: makeProvenance())
        let refreshed = entry.refreshed(
            by: response, for: request, requestTime: inputs.fetchStart, responseTime: context.clock.date(),
            provenance: joined ?? entry.provenance, identifying: context.settings.identifyingFields)
        if cacheUse.storageRequest != nil, joined != nil { cache.update(refreshed, for: request) }
        outcome.decision = .deliverCached
        outcome.cacheUse = .value(CacheUse(deliveredEntry: refreshed))
    }

    /// Returns the provenance of the hop's content: from which server, and over which kind of connection, the content came. If
    /// another judge than the default evaluation has accepted the connection, the first call runs the default evaluation, on the
    /// connection's loop. Called only if content is collected for the cache, or if a 304 has confirmed an entry.
    private func provenance(
        of hop: any HopLoad, _ inputs: ResponseInputs, _ requester: CacheRequester?
    ) -> CacheProvenance {
        // Without the network, the content comes from a `URLProtocol` of the program.
        guard inputs.usesNetwork else { return .program }
        // Without evidence, the connection did not use TLS.
        guard let evidence = hop.evidence else {
            // Nil for a direct connection without the engine's `connectionOverrides`.
            guard let route = requester?.route else { return .plain }
            let responseRoute = context.engine.cacheRouteOfResponse(
                lookedUpWith: route, to: inputs.visibleRequest.url)
            return CacheProvenance(.plain(route: responseRoute))
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
            // `collect` returns false once the content is too long to be stored. The entry that the response supersedes is then
            // removed.
            return (true, state.cacheUse.collect(data) ? nil : state.cacheUse.invalidatedURL)
        }
        guard isWanted else { return .enough }
        if let invalidatedURL { context.settings.cache?.invalidate(invalidatedURL) }
        return stopCollectingIfEnough(client.driverReceivedContent(data))
    }

    func hopSpliced(_ hop: any HopLoad, _ count: Int) -> Demand {
        guard isActive(hop) else { return .enough }
        return stopCollectingIfEnough(client.driverSpliced(count))
    }

    /// Stops collecting content for the cache if the client wants no more of it (`.enough`). Returns `demand`.
    private func stopCollectingIfEnough(_ demand: Demand) -> Demand {
        switch demand {
        case .more, .pause: break
        case .enough: state.withLock { $0.cacheUse.stopCollecting() }
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
        // These variables are swapped with the state below, so that the replaced values are released outside of the lock.
        var (newResponse, question): (URLResponse?, Question?) = (
            response, .protocolRedirect(response, request)
        )
        handle(.responseArrived(decision)) { state in
            // The state may have changed since `count` was read. The machine then ignores the event too.
            guard state.hop === hop, state.machine.awaitsResponse else { return }
            swap(&state.response, &newResponse)
            swap(&state.question, &question)
        }
    }

    func hopEnded(_ hop: any HopLoad, _ error: (any Error)?, _ metrics: HopMetrics) {
        var authenticator: Authenticator?
        // Set if the hop has ended because a proxy has refused to open a tunnel without authentication.
        var refusal: (decision: HopMachine.ResponseDecision, question: Question?)?
        let urlError = error as? URLError
        if let error = urlError, let head = Self.refusedTunnel(error),
            var currentAuthenticator = state.withLock({
                $0.machine.awaitsResponse ? $0.authenticator?.value : nil
            })
        {
            // The program may have replaced the task's credential since the hop began.
            currentAuthenticator.taskCredential = client.driverCredential
            refusal = Self.decision(for: currentAuthenticator.receiveTunnelRefusal(head), refusal: error)
            authenticator = currentAuthenticator
        }
        let end = error.map(HopMachine.HopEnd.failure) ?? .success
        let hasConnected = metrics.hasConnected
        let actions = state.withLock { state -> HopMachine.Actions? in
            guard state.hop === hop else { return nil }
            state.hop = nil
            state.hasConnected = state.hasConnected || hasConnected
            state.hopMetrics.append(metrics)
            var meaning = HopMachine.HopEndMeaning.endLoad
            if let (decision, question) = refusal, let authenticator {
                state.authenticator = .value(authenticator)
                state.question = question
                meaning = .refusedByProxy(decision)
            } else if error != nil {
                let waitsForConnectivity = context.settings.waitsForConnectivity && state.usesNetwork
                let isOffline = urlError?.code == .notConnectedToInternet && !state.hasConnected
                if waitsForConnectivity, isOffline { meaning = .noNetwork }
            } else if state.cacheUse.isCollecting {
                meaning = .storable
            }
            // Nil if another thread is performing steps, which then performs these actions too.
            return Self.claimOrQueue(state.machine.handle(.hopEnded(end, meaning)), &state)
        }
        // The machine returns no command to a hop that has ended, so that no hop has to be passed.
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

/// Ignores the bytes of a connection that was upgraded for a hop whose calls are ignored. The connection is closed.
private final class InactiveHopUpgradeHandler: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}
