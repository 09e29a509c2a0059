// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The evaluation of a hop's response: decides what follows from it, and how the load changes. Stores the response's cookies, and
/// updates the cache.
///
/// The driver creates it from its state, evaluates the response without holding its lock, and applies the result to the state. It
/// cannot be copied: a copy would count the references of a dozen objects.
struct ResponseEvaluation: ~Copyable, Sendable {
    /// How the request is changed if the response makes a repetition necessary.
    enum Repetition: Sendable {
        /// There is no repetition, or one of the same request.
        case unchanged
        /// The request must not use the cache entry.
        case withoutCacheEntry
        /// The request is for the whole resource instead of the rest of a download.
        case ofWholeResource
    }

    /// What follows from the response.
    private(set) var decision = HopMachine.ResponseDecision.deliver
    /// The question to ask the client; nil for none.
    private var question: HopQuestion?
    /// The load's authentication; nil if the load has none.
    private var authentication: LoadAuthentication?
    /// Whether the hop has sent an answer to a challenge or received a challenge.
    private let needsAuthentication: Bool
    private var repetition = Repetition.unchanged
    /// The new use of the cache; nil if it has not changed.
    private var newCacheUse: CacheUse?
    /// The delivery of the entry that the response has confirmed; nil if it has confirmed none.
    private var cachedDelivery: CachedDelivery?
    private var response: URLResponse?

    /// The request of the hop without the fields that the driver has added.
    private let request: URLRequest
    private let body: TaskDefinition.Body
    private let redirects: FollowedRedirects
    /// The request that was sent, without answers to challenges and conditional fields of the cache.
    private let visibleRequest: URLRequest
    private let authorization: String?
    private let cacheUse: CacheUse
    private let fetchStart: Date
    private let usesNetwork: Bool
    /// The judge of the server; nil if storing cookies and responses does not depend on it.
    private let judge: TrustJudge?

    /// Creates an evaluation of a response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - status: The status of an HTTP response; nil for other responses and for the redirect of a `URLProtocol`.
    ///   - hop: The hop that has received the response.
    ///   - basis: What the hop was made from.
    init(_ response: URLResponse, _ status: Int? = nil, of hop: borrowing PreparedHop, _ basis: HopBasis) {
        self.response = response
        request = basis.request
        body = basis.body
        redirects = basis.redirects
        visibleRequest = hop.visibleRequest
        authorization = hop.authorization
        cacheUse = hop.cacheUse
        fetchStart = hop.fetchStart
        usesNetwork = hop.usesNetwork
        judge = hop.judge
        needsAuthentication = usesNetwork && (hop.hasSentAnswer || status == 401 || status == 407)
        authentication = needsAuthentication ? basis.authentication : nil
    }

    /// Exchanges the load's values for the new ones. The replaced values are in this evaluation afterwards, so that they are
    /// released outside of the driver's lock: they may be objects of the program.
    mutating func apply(to state: inout TaskDriver.State) {
        if authentication != nil { swap(&state.basis.authentication, &authentication) }
        if var new = newCacheUse.take() {
            swap(&state.hop.cacheUse, &new)
            newCacheUse = new
        }
        state.basis.repeatRequest(repetition)
        swap(&state.questions.open, &question)
        swap(&state.response, &response)
        swap(&state.cachedDelivery, &cachedDelivery)
    }

    /// Evaluates the response.
    ///
    /// - Parameters:
    ///   - hop: The hop's load.
    ///   - policy: Where the source of the response allows it to be stored.
    ///   - definition: The definition of the task.
    ///   - context: The session's context.
    ///   - client: The task.
    mutating func evaluate(
        of hop: any HopLoad, _ policy: URLCache.StoragePolicy, _ definition: TaskDefinition,
        _ context: SessionContext, _ client: any TaskDriverClient
    ) {
        guard let response = response as? HTTPURLResponse else { return }
        if usesNetwork {
            // Cookies are stored before any decision, so that the next hop sends them (U-10.6).
            HopAssembly.storeCookies(of: response, to: visibleRequest, context.settings) {
                // Called if cookies are stored. Nil means that the cookies may also be sent to servers that another judge has
                // accepted. `isUnproven` means that the default evaluation rejects a server that was accepted without a check.
                guard let evidence = hop.evidence, evidence.isUnproven(at: .now) else { return nil }
                return judge ?? context.judge(of: client)
            }
            evaluateChallenge(response, definition.request, context, client)
            if case .deliver = decision {
                evaluateRedirect(response, context.settings, isWebSocket: definition.kind == .webSocket)
            }
        }
        // Only a resumed download has this closure. It returns true if the response cannot be appended to the downloaded part.
        if case .deliver = decision, definition.mustStartOver?(response) ?? false {
            decision = .nextHop
            repetition = .ofWholeResource
        }
        if let cache = context.settings.cache { updateCache(response, of: hop, policy, cache, context) }
    }

    /// Sets the decision about a challenge, or about the response to an answer.
    ///
    /// - Parameter original: The request for which the task was created.
    private mutating func evaluateChallenge(
        _ response: HTTPURLResponse, _ original: URLRequest, _ context: SessionContext,
        _ client: any TaskDriverClient
    ) {
        guard needsAuthentication, let url = redirects.url(of: visibleRequest) else { return }
        if authentication == nil {
            var new = LoadAuthentication(of: original, context)
            // The request used no proxy: with a proxy, the authentication exists before the request is sent.
            new.recordUnanswered(AuthenticationMessage(visibleRequest, body: body, url: url, proxy: nil))
            authentication = new
        }
        // The program may have replaced the task's credential since the request was sent.
        guard let outcome = authentication?.receive(response, client.driverCredential) else { return }
        (decision, question) = outcome
    }

    /// Sets the decision and the question if the response is a redirect.
    private mutating func evaluateRedirect(
        _ response: HTTPURLResponse, _ settings: SessionSettings, isWebSocket: Bool
    ) {
        let verdict = RedirectRule.verdict(
            on: response, to: request, settings.lupine, redirectCount: redirects.count,
            isWebSocket: isWebSocket)
        switch verdict {
        case .none: break
        case .proposal(let proposal):
            decision = .ask
            question = .redirect(response, proposal)
        case .failure(let error): decision = .fail(error)
        }
    }

    /// Sets the decision and the question for the redirect of a program's `URLProtocol` to `target` (U-17.6).
    mutating func evaluateRedirect(to target: URLRequest) {
        guard let response else { return }
        if redirects.count < RedirectRule.limit {
            decision = .ask
            question = .protocolRedirect(response, target)
        } else {
            decision = .fail(
                RedirectRule.tooManyRedirects(from: response.url, to: target.url?.absoluteString))
        }
    }

    // MARK: the cache

    /// Removes the entries that the response invalidates (RFC 9111 §4.4). If the response is delivered, evaluates a 304 or starts
    /// to collect the content for the cache.
    private mutating func updateCache(
        _ response: HTTPURLResponse, of hop: any HopLoad, _ policy: URLCache.StoragePolicy, _ cache: URLCache,
        _ context: SessionContext
    ) {
        for url in CacheRule.invalidatedURLs(by: request, response: response) { cache.invalidate(url) }
        guard case .deliver = decision else { return }
        var cacheUse = cacheUse
        if let entry = cacheUse.takeRevalidatedEntry(), response.statusCode == 304 {
            return applyNotModified(response, to: entry, of: hop, cache, context)
        }
        guard cacheUse.storageRequest != nil else { return }
        let isCollecting = cacheUse.beginCollecting(response, policy, for: cache, at: context.clock.date()) {
            provenance(of: hop, context)
        }
        if isCollecting { newCacheUse = cacheUse }
    }

    /// Applies a 304 (Not Modified) to the entry that it confirms (RFC 9111 §4.3.4): the load then delivers the entry. If the 304
    /// is about a version that is not stored, the load repeats the request without the cache (U-12.13).
    private mutating func applyNotModified(
        _ response: HTTPURLResponse, to entry: CacheEntry, of hop: any HopLoad, _ cache: URLCache,
        _ context: SessionContext
    ) {
        // `selects` returns false if the 304 is about another version of the resource than the stored one.
        guard let stored = entry.httpResponse, CacheRule.selects(response, stored) else {
            decision = .nextHop
            repetition = .withoutCacheEntry
            return
        }
        let storageRequest = cacheUse.storageRequest
        // Nil if no requester may receive both the stored content and the 304. The entry is then delivered, but not stored.
        let joined = entry.provenance.joined(by: provenance(of: hop, context))
        let refreshed = entry.refreshed(
            by: response, for: storageRequest ?? request, requestTime: fetchStart,
            responseTime: context.clock.date(), provenance: joined ?? entry.provenance,
            identifying: context.settings.identifyingFields)
        if let storageRequest, joined != nil { cache.update(refreshed, for: storageRequest) }
        decision = .deliverCached
        newCacheUse = CacheUse()
        cachedDelivery = CachedDelivery(refreshed, for: visibleRequest, authorization: authorization)
    }

    /// Returns the provenance of the hop's content: from which server, and over which kind of connection, the content came. If
    /// another judge than the default evaluation has accepted the connection, the first call runs the default evaluation, on the
    /// connection's loop. Called only if content is collected for the cache, or if a 304 has confirmed an entry.
    private func provenance(of hop: any HopLoad, _ context: SessionContext) -> CacheProvenance {
        // Without the network, the content comes from a `URLProtocol` of the program.
        guard usesNetwork else { return .program }
        let requester = cacheUse.requester
        // Without evidence, the connection did not use TLS.
        guard let evidence = hop.evidence else {
            // Nil for a direct connection without the engine's `connectionOverrides`.
            guard let route = requester?.route else { return .plain }
            let responseRoute = context.engine.cacheRouteOfResponse(
                lookedUpWith: route, to: visibleRequest.url)
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
}
