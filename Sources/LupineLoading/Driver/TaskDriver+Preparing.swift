// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// Prepares the next transaction: the request that is sent, the cached response for it, and the load that carries it out.
extension TaskDriver {
    /// The inputs of the next transaction.
    private struct Plan: Sendable {
        var request: URLRequest
        var body: TaskOrder.Body
        var move: RedirectMove
        var credential: URLCredential?
        var streams: Set<ObjectIdentifier>
        var deadline: Instant?
        var priority: Float
        var loop: EventLoop?
        var isSuspended: Bool
        var distrustsStored: Bool
        var authenticator: Rare<Authenticator>?
        /// Who decides about the server of the transaction's connection.
        var judge: TrustJudge?
    }

    /// Prepares the next transaction. If this is a loop and code of the program's may be called, another thread does it: after
    /// a redirect or an answer to a challenge, this is mostly the loop of the previous transaction, and other connections wait
    /// for it (O-7).
    func prepare() {
        guard EventLoop.current != nil, asksTheProgram else { return makePlan() }
        handle(.ready, elsewhere: true) { state in
            if state.machine.isPreparing { state.next = { self.makePlan() } }
        }
    }

    /// Whether classes of the program's are asked about the transaction, or a body stream of the program's for its status.
    private var asksTheProgram: Bool {
        context.loads.mayCallProgram(context) || state.withLock { !$0.streams.isEmpty }
    }

    /// Starts the preparation, which ends with the start of a transaction.
    private func makePlan() {
        var plan = state.withLock { state in
            state.request.makeAbsolute()
            return Plan(
                request: state.request, body: state.body, move: state.move,
                credential: state.redirectCredential, streams: state.streams, deadline: state.deadline,
                priority: state.priority, loop: state.loop, isSuspended: state.isSuspended,
                distrustsStored: state.distrustsStored,
                authenticator: state.authenticator)
        }
        if let deadline = plan.deadline, deadline <= context.clock.now() { return fail(timeOut) }
        if let stream = Self.spentStream(plan) {
            return fail(.loading(.requestBodyStreamExhausted, url: plan.request.url, reason: stream))
        }
        // Determined once: a delegate may be gone when the response arrives, and the response's cookies would be stored under
        // another judge.
        if mayBeJudged(plan.request) { plan.judge = judge }
        let assembly = HopAssembly(
            request: plan.request, kind: order.kind, body: plan.body, move: plan.move,
            settings: context.settings, judge: plan.judge)
        do throws(URLError) {
            authorize(try assembly.assembled(), plan)
        } catch { fail(error) }
    }

    /// Whether it matters for the request who decides about servers: what comes over TLS is stored separately by that, and
    /// cookies stored that way may be sent.
    private func mayBeJudged(_ request: URLRequest) -> Bool {
        switch request.contents.value.scheme {
        case .https, .wss: true
        case .http, .ws: context.settings.cookieStorage?.hasUncheckedCookies ?? false
        default: false
        }
    }

    /// Continues with `step` when what the preparation waited for is available, unless the load has ended meanwhile.
    private func go(on step: @escaping @Sendable () -> Void) {
        handle(.ready) { state in
            // A step that is stored after the end would never be released.
            if state.machine.isPreparing { state.next = step }
        }
    }

    /// Fails the preparation, never in the caller's stack.
    private func fail(_ error: URLError) { handle(.prepared(.fail(error)), elsewhere: true) }

    /// A stream is sent only once: the bytes that were read from it are gone (U-10.7).
    private static func spentStream(_ plan: Plan) -> String? {
        guard case .request = plan.body, case .stream(let stream) = plan.request.contents.value.body,
            plan.streams.contains(ObjectIdentifier(stream.value)), stream.value.streamStatus != .notOpen
        else { return nil }
        return "the body stream was sent already"
    }

    // MARK: answers to challenges

    /// Adds the answers to challenges of servers and proxies, as far as they are known.
    private func authorize(_ request: URLRequest, _ plan: Plan) {
        guard let url = Self.url(of: request, with: plan.credential) else {
            return fail(.loading(.unsupportedURL, url: nil, reason: "the request has no URL"))
        }
        let proxy = context.engine.authenticationProxy(for: url, isWebSocket: order.kind == .webSocket)
        if plan.authenticator == nil, proxy == nil, context.authentication.isEmpty {
            return lookUp(request, [:], plan)
        }
        var authenticator = plan.authenticator?.value ?? newAuthenticator
        authenticator.taskCredential = client.driverCredential
        authenticator.begin(AuthenticationMessage(request, body: plan.body, url: url, proxy: proxy))
        var plan = plan
        plan.authenticator = .value(authenticator)
        guard let hash = authenticator.contentHash else { return lookUp(request, [:], plan) }
        hash.compute { [self, plan] hashes in go { self.lookUp(request, hashes, plan) } }
    }

    private var newAuthenticator: Authenticator {
        Authenticator(
            memory: context.authentication, storage: context.settings.credentialStorage,
            request: order.request,
            identifiesUser: context.settings.additionalHeaders["Authorization"] != nil)
    }

    /// The authenticator for the challenge in the response. A request that was sent without one has answered no challenge.
    func authenticator(for state: State) -> Authenticator? {
        if let authenticator = state.authenticator { return authenticator.value }
        guard let url = Self.url(of: state.announced, with: state.redirectCredential) else { return nil }
        var authenticator = newAuthenticator
        authenticator.recordUnanswered(
            AuthenticationMessage(state.announced, body: state.body, url: url, proxy: nil))
        return authenticator
    }

    /// The request's URL, with the user and password that the target of a redirect contained.
    private static func url(of request: URLRequest, with credential: URLCredential?) -> URL? {
        guard let url = request.url, let credential,
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return request.url }
        (parts.user, parts.password) = (credential.user, credential.password)
        return parts.url ?? url
    }

    // MARK: the cache

    private func lookUp(_ request: URLRequest, _ hashes: [MessageDigest: [UInt8]], _ plan: Plan) {
        guard var authenticator = plan.authenticator?.value else {
            return lookUp(Prepared(announced: request, sent: request, fields: AuthenticationFields()), plan)
        }
        let fields = authenticator.fields(hashes)
        var plan = plan
        plan.authenticator = .value(authenticator)
        var sent = request
        if let value = fields.authorization { sent.headerList.set("Authorization", value) }
        lookUp(Prepared(announced: request, sent: sent, fields: fields), plan)
    }

    private func lookUp(_ hop: Prepared, _ plan: Plan) {
        let sent = hop.sent
        switch (order.kind, sent.contents.value.scheme) {
        case (.webSocket, _), (_, .file), (_, .data): return load(hop, plan, CacheUse())
        case (.data, _), (.upload, _), (.download, _): break
        }
        let policy = context.settings.requestCachePolicy
        if hasNothingToDoWithCaches(sent) { return load(hop, plan, CacheUse()) }
        let reader = cacheReader(for: sent, plan)
        guard let cache = context.settings.cache, let reader, !plan.distrustsStored,
            CacheDecision.needsEntry(for: sent, configuration: policy)
        else { return decide(hop, plan, nil, reader, mayBeStored: true) }
        switch cache.lookUpInMemory(sent, for: reader) {
        case .known(let entry): decide(hop, plan, entry, isInMemory: true, reader, mayBeStored: entry != nil)
        case .onDisk:
            cache.lookUp(sent, for: reader) { [self, plan] entry in
                go { self.decide(hop, plan, entry, reader, mayBeStored: entry != nil) }
            }
        }
    }

    /// Who may read stored responses for this request: determined by the trust policy, the client certificate and the proxy of
    /// the connection that would be opened now.
    private func cacheReader(for request: URLRequest, _ plan: Plan) -> CacheRequester? {
        // Sent in the clear.
        let isOpen = request.contents.value.scheme == .http
        guard request.httpMethod == "GET", let url = request.url,
            let shared = isOpen ? context.plainCacheRequester : context.secureCacheRequester
        else { return nil }
        let fields = shared.identifyingFields
        if isOpen {
            let user = plan.authenticator?.value.proxyCredential
            guard let route = context.engine.cacheRoute(to: url, as: user) else { return shared }
            return CacheRequester(
                policy: shared.policy, client: shared.client, route: route, identifyingFields: fields)
        }
        let judge = plan.judge ?? judge
        let mayIdentify = context.settings.mayIdentify(to: url, after: plan.move)
        let client = mayIdentify ? chosenClient(at: url) ?? shared.client : nil
        if judge.objects.isEmpty, client == shared.client { return shared }
        return CacheRequester(
            policy: judge.objects.isEmpty ? shared.policy : .judge(judge), client: client,
            identifyingFields: fields)
    }

    /// Who decides about the servers of the task's connections.
    var judge: TrustJudge {
        TrustJudge(
            objects: client.driverJudges, evaluator: context.engine.evaluator, roots: context.rootsName)
    }

    /// The fingerprint of the client certificate that the task has chosen in a challenge of this URL's origin, and presents there
    /// from then on.
    private func chosenClient(at url: URL) -> SHA256Digest? {
        guard let trust = state.withLock({ $0.trust }), let host = url.hostName,
            case .identity(let identity)? = trust.choice(
                host: HostName.canonical(host), port: UInt16(clamping: url.port ?? 443))
        else { return nil }
        return identity.certificate.fingerprint
    }

    /// Whether the session has no cache, and the request has no fields that concern caches on the way to the server, either: most
    /// requests have only the session's own fields.
    private func hasNothingToDoWithCaches(_ request: URLRequest) -> Bool {
        let settings = context.settings
        guard settings.cache == nil, !settings.additionalHeadersAffectCaching,
            request.headerList.fields == settings.additionalHeaders.fields
        else { return false }
        switch settings.cachePolicy(for: request) {
        case .useProtocolCachePolicy, .reloadIgnoringLocalCacheData: return true
        default: return false
        }
    }

    /// A request in two forms: as the program sees it, and as it is sent so far.
    private struct Prepared: Sendable {
        /// The current request as the program sees it: without answers to challenges and conditional fields of the cache.
        let announced: URLRequest
        var sent: URLRequest
        let fields: AuthenticationFields

        /// The same with these fields set.
        func setting(_ added: [HeaderList.Field]) -> Prepared {
            var hop = self
            for field in added { hop.sent.headerList.set(field.name, field.value) }
            return hop
        }
    }

    /// - Parameters:
    ///   - isInMemory: Whether the entry was in memory, and so was found by the thread that started the load.
    ///   - mayBeStored: Whether the cache may already have an entry for the request: false only if a look-up found none.
    private func decide(
        _ hop: Prepared, _ plan: Plan, _ entry: CacheEntry?, isInMemory: Bool = false,
        _ reader: CacheRequester?,
        mayBeStored: Bool
    ) {
        let policy = context.settings.requestCachePolicy
        let stored = mayStore ? hop.sent : nil
        switch CacheDecision(for: hop.sent, configuration: policy, entry: entry, at: context.clock.date()) {
        case .use(let entry):
            var (sent, announced, cache) = (hop.announced, hop.announced, CacheUse(answer: entry))
            let authorization = hop.fields.authorization
            // In this stack only if no code of the program's is called (a response of its own class would be asked for its
            // length), and not on a loop, which has other connections.
            let isHere =
                isInMemory && EventLoop.current == nil && entry.response.response.isOfTheLibrary
                && client.driverOnlyQueues
            handle(.prepared(.answer), elsewhere: !isHere) { state in
                guard state.machine.isPreparing else { return }
                swap(&state.sent, &sent)
                swap(&state.announced, &announced)
                swap(&state.cache, &cache)
                state.authorization = authorization
            }
        case .fail:
            let address = hop.sent.url?.withoutUserInfo.absoluteString ?? ""
            fail(
                .loading(
                    .resourceUnavailable, url: hop.sent.url,
                    reason:
                        "the cache has no answer for \(address), and the request's cachePolicy is not to load it"
                ))
        case .revalidate(let entry, let added):
            load(
                hop.setting(added), plan,
                CacheUse(storesFor: stored, supersedes: hop.sent.url, revalidates: entry, reader: reader))
        case .load(let added):
            let isKept = stored != nil && CacheRule.key(of: hop.sent) != nil
            load(
                added.isEmpty ? hop : hop.setting(added), plan,
                CacheUse(
                    storesFor: stored, supersedes: isKept && mayBeStored ? stored?.url : nil, reader: reader))
        case .bypass:
            load(hop, plan, CacheUse())
        }
    }

    /// Whether responses of this task are stored (U-12.4).
    private var mayStore: Bool {
        context.settings.cache != nil && (order.kind == .data || order.kind == .upload)
    }

    // MARK: the hop

    private func load(_ hop: Prepared, _ plan: Plan, _ cache: CacheUse) {
        var sent = hop.sent
        order.addHandshakeFields?(&sent)
        let transfer = context.engine.reporter == nil ? nil : newTransfer
        let authorization = hop.fields.authorization
        let request = hopRequest(sent, hop.fields, plan, transfer)
        let hasAnswered =
            authorization != nil || request.proxyAuthorization != nil || request.tunnelAuthorizer != nil
        guard let made = context.loads.make(request, context, client, self) else {
            let scheme = sent.url?.scheme ?? ""
            return fail(
                .loading(
                    .unsupportedURL, url: sent.url,
                    reason:
                        "the scheme \"\(scheme)\" is not supported: http, https, file and data are, and what the "
                        + "session's protocolClasses take"))
        }
        let sentStream: ObjectIdentifier? =
            if case .stream(let stream) = sent.contents.value.body { ObjectIdentifier(stream.value) } else {
                nil
            }
        if let transfer, made.load is NetworkLoad { noteTransfer(transfer) }
        if plan.isSuspended { made.load.setSuspended(true) }
        let wantsAlarm = !made.isTransaction
        let now = context.clock.date()
        var priority = plan.priority
        // The previous transaction's values are released outside of the lock.
        var (announced, cache, response): (URLRequest, CacheUse, URLResponse?) = (hop.announced, cache, nil)
        handle(.prepared(.load)) { state in
            // If the load has ended meanwhile, the transaction is never started.
            guard state.machine.isPreparing else { return }
            state.hop = made.load
            state.isTransaction = made.isTransaction
            swap(&state.sent, &sent)
            swap(&state.announced, &announced)
            state.hasAnswered = hasAnswered
            state.authorization = authorization
            swap(&state.cache, &cache)
            state.authenticator = plan.authenticator
            state.judge = plan.judge
            swap(&state.response, &response)
            state.fetchStart = now
            if let sentStream { state.streams.insert(sentStream) }
            priority = state.priority
        }
        // Passes on what has changed during the preparation. Later changes reach the load directly; it starts when the
        // preparation is over.
        passSuspension(to: made.load, told: plan.isSuspended)
        if priority != plan.priority { made.load.setPriority(priority) }
        if wantsAlarm { setAlarm() }
    }

    private func hopRequest(
        _ sent: URLRequest, _ fields: AuthenticationFields, _ plan: Plan, _ transfer: TransferIdentity?
    ) -> HopRequest {
        HopRequest(
            request: sent, body: plan.body, isUpgrade: order.kind == .webSocket,
            mayDecode: context.settings.lupine.decodesContent && order.mayDecode,
            wholeTimeout: plan.deadline.map { $0 - context.clock.now() }, priority: plan.priority,
            loop: plan.loop, usesClientIdentity: context.settings.mayIdentify(to: sent.url, after: plan.move),
            proxyAuthorization: fields.proxyAuthorization, tunnelAuthorizer: fields.tunnelAuthorizer,
            taskTrust: trust(for: sent), transfer: transfer)
    }

    /// What transfer observers are told of the transaction, if it uses the network.
    private var newTransfer: TransferIdentity {
        let (last, count) = state.withLock { ($0.observed?.value, $0.redirectCount) }
        let cause: TransferCause =
            switch last {
            case nil: .request
            case let last? where last.redirectCount < count: .redirect(after: last.id)
            case let last?: .repetition(after: last.id)
            }
        return TransferIdentity(cause, taskIdentifier: client.driverIdentifier)
    }

    private func noteTransfer(_ transfer: TransferIdentity) {
        state.withLock { state in
            state.observed = .value(Observed(id: transfer.id, redirectCount: state.redirectCount))
        }
    }

    /// Passes the challenges of the connection to the program; nil if no delegate would be asked, or no challenge can occur.
    private func trust(for request: URLRequest) -> TaskTrust? {
        if request.contents.value.scheme == .http, !context.engine.hasProxy { return nil }
        if let trust = state.withLock({ $0.trust }) { return trust }
        guard let trust = client.challengedTask.map({ context.engine.tlsProfiles.trust(asking: $0) }) else {
            return nil
        }
        let isLate = state.withLock { state in
            if !state.machine.isOver { state.trust = trust }
            return state.machine.isOver
        }
        if isLate { trust.end() }
        return trust
    }

    /// Passes the present suspension to the load, and checks it again afterwards, since other threads pass it on as well.
    private func passSuspension(to load: any HopLoad, told: Bool) {
        var told = told
        while true {
            let isSuspended = state.withLock { $0.isSuspended }
            if isSuspended == told { return }
            load.setSuspended(isSuspended)
            told = isSuspended
        }
    }

    /// Makes the request that is sent the task's current one.
    func announce() {
        let (request, authorization) = state.withLock { ($0.announced, $0.authorization) }
        client.driverSends(request, authorization: authorization)
    }

    // MARK: the network

    /// Waits for connectivity, at most until the resource time-out.
    func waitForNetwork() {
        let (isFirst, hasWatch, hasChanged) = state.withLock { state in
            defer {
                state.saidOffline = true
                state.networkHasChanged = false
            }
            return (!state.saidOffline, state.watch != nil, state.networkHasChanged)
        }
        if isFirst { client.driverWaitsForConnectivity() }
        setAlarm()
        if hasWatch {
            if hasChanged { handle(.online) }
            return
        }
        let end = context.network.begin { [weak self] in
            self?.handle(.online, elsewhere: true) { state in
                if !state.machine.isOffline { state.networkHasChanged = true }
            }
        }
        let isLate = state.withLock { state in
            if state.machine.isOver { return true }
            state.watch = end
            return false
        }
        if isLate { end() }
    }
}
