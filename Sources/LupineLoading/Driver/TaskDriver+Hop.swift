// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTLS
internal import LupineTransport

/// Handles the calls of a transaction: its response is judged, and delivered if it is final; everything else is passed on to
/// the client.
///
/// The calls of one transaction never overlap, so nothing here competes with the machine's work, which is performed while no
/// transaction runs or while it waits. Calls of a transaction that is not the current one any more are ignored.
extension TaskDriver: HopLoadClient {
    // MARK: before the response

    func hopNeedsBodyStream(_ hop: any HopLoad, reply: @escaping @Sendable (BodyStream?) -> Void) {
        guard isHeard(hop) else { return reply(nil) }
        setAlarm()
        client.driverNeedsBodyStream(reply: reply)
    }

    func hopSent(_ hop: any HopLoad, total: Int64, expected: Int64) {
        if isHeard(hop) { client.driverSent(total: total, expected: expected) }
    }

    func hopInterim(_ hop: any HopLoad, _ response: HTTPURLResponse) {
        if isHeard(hop) { client.driverInterim(response) }
    }

    func hopChallenged(
        _ hop: any HopLoad, _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard isHeard(hop) else { return reply(.cancelAuthenticationChallenge, nil) }
        setAlarm()
        client.driverChallenged(challenge, reply: reply)
    }

    func hopUpgraded(_ hop: any HopLoad, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    {
        guard isHeard(hop) else {
            connection.close()
            return UnwantedUpgrade()
        }
        return client.driverUpgraded(connection, response)
    }

    private func isHeard(_ hop: any HopLoad) -> Bool {
        state.withLock { $0.hop === hop && $0.machine.isRunning }
    }

    // MARK: the response

    /// The state that a response is judged by.
    private struct Situation: Sendable {
        let request: URLRequest
        /// The same as it was sent, but without answers to challenges.
        let announced: URLRequest
        let cache: CacheUse
        let fetchStart: Date
        let redirectCount: Int
        let isTransaction: Bool
        let judge: TrustJudge?
        /// Set if an answer to a challenge was sent, or a challenge was received.
        let authenticator: Rare<Authenticator>?
    }

    /// What a response leads to, and the changes of state that come with it.
    private struct Verdict {
        var judgement = HopMachine.ResponseDecision.deliver
        var authenticator: Rare<Authenticator>?
        var question: Question?
        var cache: Rare<CacheUse>?
        var distrustsStored = false
        /// Whether the next transaction requests the whole resource.
        var startsOver = false
    }

    func hopResponse(_ hop: any HopLoad, _ response: URLResponse, storagePolicy: URLCache.StoragePolicy)
        -> HopPlan
    {
        let status = (response as? HTTPURLResponse)?.statusCode
        let situation = state.withLock { state -> Situation? in
            guard state.hop === hop, state.machine.awaitsResponse else { return nil }
            let isAsked = state.isTransaction && (state.hasAnswered || status == 401 || status == 407)
            return Situation(
                request: state.request, announced: state.announced, cache: state.cache,
                fetchStart: state.fetchStart,
                redirectCount: state.redirectCount, isTransaction: state.isTransaction, judge: state.judge,
                authenticator: isAsked ? authenticator(for: state).map { .value($0) } : nil)
        }
        guard let situation else { return .skip }
        let verdict = judge(response, of: hop, situation, storagePolicy)
        // Replaced values are released outside of the lock.
        var (question, shown, cache): (Question?, URLResponse?, CacheUse?) = (
            verdict.question, response, verdict.cache?.value
        )
        let actions = state.withLock { state -> HopMachine.Actions in
            if let authenticator = verdict.authenticator { state.authenticator = authenticator }
            if var new = cache {
                swap(&state.cache, &new)
                cache = new
            }
            if verdict.distrustsStored { state.distrustsStored = true }
            if verdict.startsOver {
                state.request.setValue(nil, forHTTPHeaderField: "Range")
                state.request.setValue(nil, forHTTPHeaderField: "If-Range")
            }
            swap(&state.question, &question)
            swap(&state.response, &shown)
            let actions = state.machine.handle(.judged(verdict.judgement))
            if case .ask? = actions.work.first { (state.isPerforming, state.holdsOrders) = (true, true) }
            return actions
        }
        if case .ask? = actions.work.first { return ask(first: actions, hop) }
        var plan: HopPlan?
        for work in actions.work { plan = perform(work) ?? plan }
        return obeyed(actions.order, hop, plan ?? .skip)
    }

    /// Asks while the transaction waits for the result of its call: if the answer comes at once, the transaction need not
    /// pause.
    private func ask(first actions: HopMachine.Actions, _ hop: any HopLoad) -> HopPlan {
        var answer = HopPlan.pause
        var actions: HopMachine.Actions? = actions
        while let current = actions {
            var plan: HopPlan?
            for work in current.work { plan = perform(work) ?? plan }
            answer = obeyed(current.order, hop, plan ?? answer)
            actions = state.withLock { Self.next(&$0) }?.actions
        }
        return answer
    }

    /// Turns an order into the result of the transaction's call.
    private func obeyed(_ order: HopMachine.Order, _ hop: any HopLoad, _ plan: HopPlan) -> HopPlan {
        switch order {
        case .none, .start, .proceed: return plan
        case .skip: return .skip
        case .cancel(let error):
            hop.cancel(error)
            return .skip
        }
    }

    private func judge(
        _ response: URLResponse, of hop: any HopLoad, _ situation: Situation,
        _ policy: URLCache.StoragePolicy
    ) -> Verdict {
        var verdict = Verdict()
        guard let response = response as? HTTPURLResponse else { return verdict }
        if situation.isTransaction {
            // Before anything is decided, so that the next transaction sends them (U-10.6).
            HopAssembly.storeCookies(of: response, to: situation.announced, context.settings) {
                guard let evidence = hop.evidence, evidence.isUnproven(at: .now) else { return nil }
                return situation.judge ?? judge
            }
            judgeChallenge(response, situation, &verdict)
            if case .deliver = verdict.judgement { judgeRedirect(response, situation, &verdict) }
        }
        if case .deliver = verdict.judgement, order.mustStartOver?(response) ?? false {
            verdict.judgement = .again
            verdict.startsOver = true
        }
        if let cache = context.settings.cache {
            judgeCaching(response, of: hop, situation, policy, cache, &verdict)
        }
        return verdict
    }

    private func judgeChallenge(_ response: HTTPURLResponse, _ situation: Situation, _ verdict: inout Verdict)
    {
        guard var authenticator = situation.authenticator?.value else { return }
        authenticator.taskCredential = client.driverCredential
        (verdict.judgement, verdict.question) = Self.judgement(of: authenticator.received(response), nil)
        verdict.authenticator = .value(authenticator)
    }

    /// What an authenticator's verdict means for the transaction.
    static func judgement(of verdict: Authenticator.Verdict, _ refusal: URLError?)
        -> (HopMachine.ResponseDecision, Question?)
    {
        switch verdict {
        case .deliver: (refusal.map { .fail($0) } ?? .deliver, nil)
        case .resend: (.again, nil)
        case .ask(let challenge): (.ask, .challenge(challenge, refusal: refusal))
        case .cancel: (.fail(.cancelled(url: nil)), nil)
        }
    }

    private func judgeRedirect(_ response: HTTPURLResponse, _ situation: Situation, _ verdict: inout Verdict)
    {
        switch RedirectRule.verdict(
            on: response, to: situation.request, context.settings.lupine,
            followed: situation.redirectCount, isWebSocket: order.kind == .webSocket)
        {
        case .none: break
        case .proposal(let proposal):
            verdict.judgement = .ask
            verdict.question = .redirect(response, proposal)
        case .failure(let error):
            verdict.judgement = .fail(error)
        }
    }

    private func judgeCaching(
        _ response: HTTPURLResponse, of hop: any HopLoad, _ situation: Situation,
        _ policy: URLCache.StoragePolicy, _ cache: URLCache, _ verdict: inout Verdict
    ) {
        for url in CacheRule.invalidatedURLs(by: situation.request, response: response) {
            cache.invalidate(url)
        }
        guard case .deliver = verdict.judgement else { return }
        var use = situation.cache
        if let entry = use.takeRevalidated() {
            if response.statusCode == 304 {
                let source = { [self] in provenance(of: hop, situation, use.reader) }
                return judgeConfirmation(response, of: entry, use, situation, cache, source, &verdict)
            }
        }
        guard use.storesFor != nil else { return }
        let reader = use.reader
        let isCollecting = use.collect(response, policy, for: cache, at: context.clock.date()) {
            provenance(of: hop, situation, reader)
        }
        if isCollecting { verdict.cache = .value(use) }
    }

    /// Handles a 304: the stored response is still valid, or the server means another version, which is not stored (U-12.13).
    private func judgeConfirmation(
        _ response: HTTPURLResponse, of entry: CacheEntry, _ use: CacheUse, _ situation: Situation,
        _ cache: URLCache, _ provenance: () -> CacheProvenance, _ verdict: inout Verdict
    ) {
        guard let stored = entry.httpResponse, CacheRule.selects(response, stored) else {
            verdict.judgement = .again
            verdict.distrustsStored = true
            return
        }
        let request = use.storesFor ?? situation.request
        let joined = entry.provenance.joined(by: provenance())
        let refreshed = entry.refreshed(
            by: response, for: request, requestTime: situation.fetchStart, responseTime: context.clock.date(),
            provenance: joined ?? entry.provenance, identifying: context.settings.identifyingFields)
        if use.storesFor != nil, joined != nil { cache.update(refreshed, for: request) }
        verdict.judgement = .cached
        verdict.cache = .value(CacheUse(answer: refreshed))
    }

    /// The provenance of the transaction's content. If the connection was not accepted by the default evaluation, the first
    /// call runs that evaluation: on the connection's loop, and only for responses that may be stored.
    private func provenance(
        of hop: any HopLoad, _ situation: Situation, _ reader: CacheRequester?
    ) -> CacheProvenance {
        guard situation.isTransaction else { return .program }
        guard let evidence = hop.evidence else {
            let route = reader?.route.map { context.engine.takenCacheRoute($0, to: situation.announced.url) }
            return route.map { CacheProvenance(.plain(route: $0)) } ?? .plain
        }
        let facts = evidence.chainFacts(at: .now)
        return CacheProvenance(
            .secure(
                CacheProvenance.Connection(
                    identity: evidence.identity, roots: facts.passesDefault ? evidence.rootsName : nil,
                    keys: facts.keys, judge: reader?.judge, wasChecked: evidence.acceptance != .unchecked))
        )
    }

    // MARK: the content

    func hopKeepsChunks(_ hop: any HopLoad) -> Bool { client.driverKeepsChunks }

    func hopReceived(_ hop: any HopLoad, _ data: Data) -> Demand {
        let (isWanted, voided) = state.withLock { state -> (Bool, URL?) in
            guard state.hop === hop, state.machine.isRunning else { return (false, nil) }
            return (true, state.cache.take(data) ? nil : state.cache.voided)
        }
        guard isWanted else { return .enough }
        if let voided { context.settings.cache?.invalidate(voided) }
        return answered(client.driverReceived(data))
    }

    func hopSpliced(_ hop: any HopLoad, _ count: Int) -> Demand {
        guard isHeard(hop) else { return .enough }
        return answered(client.driverSpliced(count))
    }

    /// Content that the client has not taken in full is not collected.
    private func answered(_ demand: Demand) -> Demand {
        switch demand {
        case .more, .pause: break
        case .enough: state.withLock { $0.cache.giveUp() }
        }
        return demand
    }

    // MARK: elsewhere, and the end

    func hopRedirected(_ hop: any HopLoad, to request: URLRequest, response: URLResponse) {
        let count = state.withLock { state in
            state.hop === hop && state.machine.awaitsResponse ? state.redirectCount : nil
        }
        guard let count else { return }
        let isAllowed = count < RedirectRule.limit
        let judgement: HopMachine.ResponseDecision =
            isAllowed
            ? .ask
            : .fail(RedirectRule.tooManyRedirects(from: response.url, to: request.url?.absoluteString))
        var (shown, question): (URLResponse?, Question?) = (response, .protocolRedirect(response, request))
        handle(.judged(judgement)) { state in
            guard state.hop === hop, state.machine.awaitsResponse else { return }
            swap(&state.response, &shown)
            swap(&state.question, &question)
        }
    }

    func hopEnded(_ hop: any HopLoad, _ error: (any Error)?, _ metrics: HopMetrics) {
        var authenticator: Authenticator?
        var refusal: (HopMachine.ResponseDecision, Question?)?
        let loading = error as? URLError
        if let error = loading, let head = Self.refusedTunnel(error),
            var found = state.withLock({ $0.machine.awaitsResponse ? $0.authenticator?.value : nil })
        {
            found.taskCredential = client.driverCredential
            refusal = Self.judgement(of: found.refused(tunnel: head), error)
            authenticator = found
        }
        let end = error.map(HopMachine.HopEnd.failure) ?? .success
        let hasConnected = metrics.hasConnected
        let (actions, _) = state.withLock { state -> (HopMachine.Actions?, Bool) in
            guard state.hop === hop else { return (nil, false) }
            state.hop = nil
            state.hasConnected = state.hasConnected || hasConnected
            state.hops.append(metrics)
            var meaning = HopMachine.Meaning.end
            if let refusal, let authenticator {
                state.authenticator = .value(authenticator)
                state.question = refusal.1
                meaning = .refused(refusal.0)
            } else if error != nil {
                let waits = context.settings.waitsForConnectivity && state.isTransaction
                if waits, loading?.code == .notConnectedToInternet, !state.hasConnected {
                    meaning = .noNetwork
                }
            } else if state.cache.isCollecting {
                meaning = .storable
            }
            return (Self.take(state.machine.handle(.hopEnded(end, meaning)), &state), true)
        }
        if let actions { perform(actions, nil) }
    }

    /// The response head with which a proxy has refused to open a tunnel without authentication (U-11.17).
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

/// Handles an upgraded connection that is not wanted.
private final class UnwantedUpgrade: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}
