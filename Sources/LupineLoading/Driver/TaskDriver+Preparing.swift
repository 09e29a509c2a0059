// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// Prepares the next hop: completes its request, looks for a cached response, and creates the `HopLoad`.
extension TaskDriver {
    /// The part of the driver's state that the preparation of a hop needs, read once at its beginning.
    private struct Inputs: Sendable {
        var request: URLRequest
        var body: TaskDefinition.Body
        var move: RedirectMove
        var credential: URLCredential?
        var sentStreams: Set<ObjectIdentifier>
        var deadline: Instant?
        var priority: Float
        var loop: EventLoop?
        var isSuspended: Bool
        var ignoresCacheEntry: Bool
        var authenticator: Boxed<Authenticator>?
        /// The judge of the server of the hop's connection; nil if nothing depends on it.
        var judge: TrustJudge?
    }

    /// Prepares the next hop. If the calling thread is an event loop and the preparation may call the program's code, another
    /// thread prepares the hop: other connections must not wait for the program (O-7). After a redirect or an answer to a
    /// challenge, the caller is usually the loop of the previous hop.
    func prepare() {
        guard EventLoop.current != nil, mayCallProgram else { return beginPreparing() }
        handle(.canContinuePreparing, asynchronously: true) { state in
            if state.machine.isPreparing { state.preparationStep = { self.beginPreparing() } }
        }
    }

    /// Whether the preparation may call the program's code: its `URLProtocol` classes, or the status of its body stream.
    private var mayCallProgram: Bool {
        context.loads.mayCallProgram(context) || state.withLock { !$0.sentStreams.isEmpty }
    }

    /// Starts the preparation. It ends with the event `.prepared`.
    private func beginPreparing() {
        var inputs = state.withLock { state in
            state.request.makeAbsolute()
            return Inputs(
                request: state.request, body: state.body, move: state.move,
                credential: state.redirectCredential, sentStreams: state.sentStreams,
                deadline: state.deadline,
                priority: state.priority, loop: state.loop, isSuspended: state.isSuspended,
                ignoresCacheEntry: state.ignoresCacheEntry,
                authenticator: state.authenticator)
        }
        if let deadline = inputs.deadline, deadline <= context.clock.now() { return fail(timeOut) }
        if let reason = Self.reasonStreamIsSpent(inputs) {
            return fail(.loading(.requestBodyStreamExhausted, url: inputs.request.url, reason: reason))
        }
        // Determined once: if the delegate were released before the response arrives, the response's cookies would be stored
        // under another judge.
        if judgeMatters(for: inputs.request) { inputs.judge = judge }
        let assembly = HopAssembly(
            request: inputs.request, kind: definition.kind, body: inputs.body, move: inputs.move,
            settings: context.settings, judge: inputs.judge)
        do throws(URLError) {
            prepareAuthentication(try assembly.assembled(), inputs)
        } catch { fail(error) }
    }

    /// Whether the request depends on the judge of the server: cookies and responses that came over TLS are stored separately for
    /// each judge, and such cookies may also be sent without TLS.
    private func judgeMatters(for request: URLRequest) -> Bool {
        switch request.contents.value.scheme {
        case .https, .wss: true
        case .http, .ws: context.settings.cookieStorage?.hasUncheckedCookies ?? false
        default: false
        }
    }

    /// Continues the preparation with `step`, unless the load has ended meanwhile.
    private func continuePreparing(with step: @escaping @Sendable () -> Void) {
        handle(.canContinuePreparing) { state in
            // Stored after the end of the load, the step would never be released.
            if state.machine.isPreparing { state.preparationStep = step }
        }
    }

    /// Ends the load with `error`. The client is not called in the caller's stack.
    private func fail(_ error: URLError) { handle(.preparationEnded(.fail(error)), asynchronously: true) }

    /// Returns the reason if the request's body stream cannot be sent because it has been read before (U-10.7); otherwise nil.
    private static func reasonStreamIsSpent(_ inputs: Inputs) -> String? {
        guard case .request = inputs.body, case .stream(let stream) = inputs.request.contents.value.body,
            inputs.sentStreams.contains(ObjectIdentifier(stream.value)), stream.value.streamStatus != .notOpen
        else { return nil }
        return "the body stream was sent already"
    }

    // MARK: answers to challenges

    /// Finds the answers to challenges of the server and the proxy that are known in advance, and hashes the body if a Digest
    /// answer needs that. Continues with `addAuthentication`.
    private func prepareAuthentication(_ request: URLRequest, _ inputs: Inputs) {
        guard let url = Self.url(of: request, with: inputs.credential) else {
            return fail(.loading(.unsupportedURL, url: nil, reason: "the request has no URL"))
        }
        let proxy = context.engine.authenticationProxy(for: url, isWebSocket: definition.kind == .webSocket)
        if inputs.authenticator == nil, proxy == nil, context.authentication.isEmpty {
            return addAuthentication(request, [:], inputs)
        }
        var authenticator = inputs.authenticator?.value ?? newAuthenticator
        authenticator.taskCredential = client.driverCredential
        authenticator.begin(AuthenticationMessage(request, body: inputs.body, url: url, proxy: proxy))
        var inputs = inputs
        inputs.authenticator = .value(authenticator)
        guard let hash = authenticator.contentHash else { return addAuthentication(request, [:], inputs) }
        hash.compute { [self, inputs] hashes in
            continuePreparing { self.addAuthentication(request, hashes, inputs) }
        }
    }

    private var newAuthenticator: Authenticator {
        Authenticator(
            memory: context.authentication, storage: context.settings.credentialStorage,
            request: definition.request,
            identifiesUser: context.settings.additionalHeaders["Authorization"] != nil)
    }

    /// Returns the authenticator for a challenge in the response: that of the request, or a new one for a request that was sent
    /// without an answer. Nil if the request has no URL.
    func authenticator(for state: State) -> Authenticator? {
        if let authenticator = state.authenticator { return authenticator.value }
        guard let url = Self.url(of: state.visibleRequest, with: state.redirectCredential) else { return nil }
        var authenticator = newAuthenticator
        authenticator.recordUnanswered(
            AuthenticationMessage(state.visibleRequest, body: state.body, url: url, proxy: nil))
        return authenticator
    }

    /// Returns the request's URL with the user and password of `credential`, which the target of a redirect contained.
    private static func url(of request: URLRequest, with credential: URLCredential?) -> URL? {
        guard let url = request.url, let credential,
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return request.url }
        (parts.user, parts.password) = (credential.user, credential.password)
        return parts.url ?? url
    }

    // MARK: the cache

    /// Adds the value of `Authorization` to the request, and continues with the cache.
    private func addAuthentication(
        _ request: URLRequest, _ hashes: [MessageDigest: [UInt8]], _ inputs: Inputs
    ) {
        guard var authenticator = inputs.authenticator?.value else {
            return lookUpInCache(
                PreparedRequest(visibleRequest: request, sent: request, fields: AuthenticationFields()),
                inputs)
        }
        let fields = authenticator.fields(hashes)
        var inputs = inputs
        inputs.authenticator = .value(authenticator)
        var sent = request
        if let value = fields.authorization { sent.headerList.set("Authorization", value) }
        lookUpInCache(PreparedRequest(visibleRequest: request, sent: sent, fields: fields), inputs)
    }

    /// Looks up the request in the cache if the load may use it, and continues with the entry.
    private func lookUpInCache(_ prepared: PreparedRequest, _ inputs: Inputs) {
        let sent = prepared.sent
        switch (definition.kind, sent.contents.value.scheme) {
        case (.webSocket, _), (_, .file), (_, .data): return makeHop(prepared, inputs, CacheUse())
        case (.data, _), (.upload, _), (.download, _): break
        }
        let policy = context.settings.requestCachePolicy
        if bypassesCaches(sent) { return makeHop(prepared, inputs, CacheUse()) }
        let requester = cacheRequester(for: sent, inputs)
        guard let cache = context.settings.cache, let requester, !inputs.ignoresCacheEntry,
            CacheDecision.needsEntry(for: sent, configuration: policy)
        else { return applyCacheDecision(prepared, inputs, nil, requester, mayHaveEntry: true) }
        switch cache.lookUpInMemory(sent, for: requester) {
        case .complete(let entry):
            applyCacheDecision(
                prepared, inputs, entry, isInMemory: true, requester, mayHaveEntry: entry != nil)
        case .onDisk:
            cache.lookUp(sent, for: requester) { [self, inputs] entry in
                continuePreparing {
                    self.applyCacheDecision(prepared, inputs, entry, requester, mayHaveEntry: entry != nil)
                }
            }
        }
    }

    /// Returns the requester whose stored responses may answer the request. It is identified by the trust policy, client
    /// certificate and proxy of the connection that would be opened now. Nil if the cache is not used.
    private func cacheRequester(for request: URLRequest, _ inputs: Inputs) -> CacheRequester? {
        let isPlaintext = request.contents.value.scheme == .http
        guard request.httpMethod == "GET", let url = request.url,
            let sessionRequester = isPlaintext ? context.plainCacheRequester : context.secureCacheRequester
        else { return nil }
        let fields = sessionRequester.identifyingFields
        if isPlaintext {
            let proxyCredential = inputs.authenticator?.value.proxyCredential
            guard let route = context.engine.cacheRoute(to: url, as: proxyCredential) else {
                return sessionRequester
            }
            return CacheRequester(
                policy: sessionRequester.policy, client: sessionRequester.client, route: route,
                identifyingFields: fields)
        }
        let judge = inputs.judge ?? judge
        // The fingerprint of the client certificate; nil if none may be presented.
        let mayIdentify = context.settings.mayIdentify(to: url, after: inputs.move)
        let client = mayIdentify ? chosenClientFingerprint(at: url) ?? sessionRequester.client : nil
        if judge.objects.isEmpty, client == sessionRequester.client { return sessionRequester }
        return CacheRequester(
            policy: judge.objects.isEmpty ? sessionRequester.policy : .judge(judge), client: client,
            identifyingFields: fields)
    }

    /// The judge of the servers of the task's connections.
    var judge: TrustJudge {
        TrustJudge(
            objects: client.driverJudges, evaluator: context.engine.evaluator, roots: context.rootsName)
    }

    /// Returns the fingerprint of the client certificate that the task has chosen in a challenge of the URL's origin; nil if it
    /// has chosen none. The task's later connections to that origin present the same certificate.
    private func chosenClientFingerprint(at url: URL) -> SHA256Digest? {
        guard let trust = state.withLock({ $0.trust }), let host = url.hostName,
            case .identity(let identity)? = trust.identityChoice(
                host: HostName.canonical(host), port: UInt16(clamping: url.port ?? 443))
        else { return nil }
        return identity.certificate.fingerprint
    }

    /// Whether no cache is concerned: the session has none, and the request has no fields for caches on the way to the server. It
    /// is enough to compare with the session's own fields, because most requests have no others.
    private func bypassesCaches(_ request: URLRequest) -> Bool {
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
    private struct PreparedRequest: Sendable {
        /// The request without answers to challenges and conditional fields of the cache.
        let visibleRequest: URLRequest
        var sent: URLRequest
        /// The answers to challenges.
        let fields: AuthenticationFields

        /// Returns the request with the fields set in `sent`.
        func setting(_ added: [HeaderList.Field]) -> PreparedRequest {
            var prepared = self
            for field in added { prepared.sent.headerList.set(field.name, field.value) }
            return prepared
        }
    }

    /// Ends the preparation as the `CacheDecision` for the request says: delivers the entry, creates a hop, or fails the load.
    ///
    /// - Parameters:
    ///   - prepared: The request.
    ///   - inputs: The inputs of the preparation.
    ///   - entry: The entry that the cache has for the request, if any.
    ///   - isInMemory: Whether the entry was in memory, so that the calling thread is the one that started the load.
    ///   - requester: The cache requester; nil if the cache is not used.
    ///   - mayHaveEntry: Whether the cache may have an entry for the request: false only if a look-up found none.
    private func applyCacheDecision(
        _ prepared: PreparedRequest, _ inputs: Inputs, _ entry: CacheEntry?, isInMemory: Bool = false,
        _ requester: CacheRequester?,
        mayHaveEntry: Bool
    ) {
        let policy = context.settings.requestCachePolicy
        let storageRequest = mayStore ? prepared.sent : nil
        switch CacheDecision(
            for: prepared.sent, configuration: policy, entry: entry, at: context.clock.date())
        {
        case .use(let entry):
            // Swapped below, so that the previous values are released outside of the lock.
            var (sent, visibleRequest, cache) = (
                prepared.visibleRequest, prepared.visibleRequest, CacheUse(deliveredEntry: entry)
            )
            let authorization = prepared.fields.authorization
            // Delivered in the caller's stack only if that calls no code of the program's and the caller is not a loop, which
            // has other connections. A response of the program's own class would be asked for its length.
            let isSynchronous =
                isInMemory && EventLoop.current == nil && entry.response.response.isOfTheLibrary
                && client.driverDefersCallbacks
            handle(.preparationEnded(.deliverCached), asynchronously: !isSynchronous) { state in
                guard state.machine.isPreparing else { return }
                swap(&state.sent, &sent)
                swap(&state.visibleRequest, &visibleRequest)
                swap(&state.cache, &cache)
                state.authorization = authorization
            }
        case .fail:
            let address = prepared.sent.url?.withoutUserInfo.absoluteString ?? ""
            fail(
                .loading(
                    .resourceUnavailable, url: prepared.sent.url,
                    reason:
                        "the cache has no answer for \(address), and the request's cachePolicy is not to load it"
                ))
        case .revalidate(let entry, let added):
            makeHop(
                prepared.setting(added), inputs,
                CacheUse(
                    storageRequest: storageRequest, supersededURL: prepared.sent.url, revalidatedEntry: entry,
                    requester: requester))
        case .load(let added):
            let isStorable = storageRequest != nil && CacheRule.key(of: prepared.sent) != nil
            makeHop(
                added.isEmpty ? prepared : prepared.setting(added), inputs,
                CacheUse(
                    storageRequest: storageRequest,
                    supersededURL: isStorable && mayHaveEntry ? storageRequest?.url : nil,
                    requester: requester))
        case .bypass:
            makeHop(prepared, inputs, CacheUse())
        }
    }

    /// Whether responses of this task may be stored (U-12.4).
    private var mayStore: Bool {
        context.settings.cache != nil && (definition.kind == .data || definition.kind == .upload)
    }

    // MARK: the hop

    /// Creates the hop's load, and ends the preparation: the machine then starts the load.
    private func makeHop(_ prepared: PreparedRequest, _ inputs: Inputs, _ cache: CacheUse) {
        var sent = prepared.sent
        definition.addHandshakeFields?(&sent)
        let transfer = context.engine.reporter == nil ? nil : newTransfer
        let authorization = prepared.fields.authorization
        let request = hopRequest(sent, prepared.fields, inputs, transfer)
        let hasSentAnswer =
            authorization != nil || request.proxyAuthorization != nil || request.tunnelAuthorizer != nil
        guard let newHop = context.loads.make(request, context, client, self) else {
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
        if let transfer, newHop.load is NetworkLoad { recordTransfer(transfer) }
        if inputs.isSuspended { newHop.load.setSuspended(true) }
        let needsAlarm = !newHop.usesNetwork
        let now = context.clock.date()
        var priority = inputs.priority
        // The previous hop's values are released outside of the lock.
        var (visibleRequest, cache, response): (URLRequest, CacheUse, URLResponse?) = (
            prepared.visibleRequest, cache, nil
        )
        handle(.preparationEnded(.startHop)) { state in
            // If the load has ended meanwhile, the hop is released without being started.
            guard state.machine.isPreparing else { return }
            state.hop = newHop.load
            state.usesNetwork = newHop.usesNetwork
            swap(&state.sent, &sent)
            swap(&state.visibleRequest, &visibleRequest)
            state.hasSentAnswer = hasSentAnswer
            state.authorization = authorization
            swap(&state.cache, &cache)
            state.authenticator = inputs.authenticator
            state.judge = inputs.judge
            swap(&state.response, &response)
            state.fetchStart = now
            if let sentStream { state.sentStreams.insert(sentStream) }
            priority = state.priority
        }
        // Suspension and priority may have changed during the preparation. Later changes go to the hop directly, because
        // `state.hop` is set.
        passSuspension(to: newHop.load, lastPassed: inputs.isSuspended)
        if priority != inputs.priority { newHop.load.setPriority(priority) }
        if needsAlarm { setAlarm() }
    }

    private func hopRequest(
        _ sent: URLRequest, _ fields: AuthenticationFields, _ inputs: Inputs, _ transfer: TransferIdentity?
    ) -> HopRequest {
        HopRequest(
            request: sent, body: inputs.body, isUpgrade: definition.kind == .webSocket,
            mayDecode: context.settings.lupine.decodesContent && definition.mayDecode,
            wholeTimeout: inputs.deadline.map { $0 - context.clock.now() }, priority: inputs.priority,
            loop: inputs.loop,
            usesClientIdentity: context.settings.mayIdentify(to: sent.url, after: inputs.move),
            proxyAuthorization: fields.proxyAuthorization, tunnelAuthorizer: fields.tunnelAuthorizer,
            verifier: trust(for: sent), transfer: transfer)
    }

    /// A new identity of the hop for transfer observers, with its cause.
    private var newTransfer: TransferIdentity {
        let (last, count) = state.withLock { ($0.lastTransfer?.value, $0.redirectCount) }
        let cause: TransferCause =
            switch last {
            case nil: .request
            case let last? where last.redirectCount < count: .redirect(after: last.id)
            case let last?: .repetition(after: last.id)
            }
        return TransferIdentity(cause, taskIdentifier: client.driverIdentifier)
    }

    /// Records the hop as the last transfer that is reported to observers.
    private func recordTransfer(_ transfer: TransferIdentity) {
        state.withLock { state in
            state.lastTransfer = .value(LastTransfer(id: transfer.id, redirectCount: state.redirectCount))
        }
    }

    /// Returns the object that passes the connection's challenges to the program; nil if no delegate would be asked or no
    /// challenge can occur.
    private func trust(for request: URLRequest) -> TaskPeerVerifier? {
        if request.contents.value.scheme == .http, !context.engine.hasProxy { return nil }
        if let trust = state.withLock({ $0.trust }) { return trust }
        guard let trust = client.challengedTask.map({ context.engine.tlsProfiles.verifier(asking: $0) })
        else {
            return nil
        }
        let isUnneeded = state.withLock { state in
            if !state.machine.isOver { state.trust = trust }
            return state.machine.isOver
        }
        if isUnneeded { trust.end() }
        return trust
    }

    /// Passes the suspension to the hop's load until it is unchanged afterwards: other threads may change and pass it at the same
    /// time.
    ///
    /// - Parameters:
    ///   - load: The hop's load.
    ///   - lastPassed: The value that the load got before.
    private func passSuspension(to load: any HopLoad, lastPassed: Bool) {
        var passed = lastPassed
        while true {
            let isSuspended = state.withLock { $0.isSuspended }
            if isSuspended == passed { return }
            load.setSuspended(isSuspended)
            passed = isSuspended
        }
    }

    /// Reports the request that is sent to the client, as the task's current one.
    func reportRequest() {
        let (request, authorization) = state.withLock { ($0.visibleRequest, $0.authorization) }
        client.driverWillSend(request, authorization: authorization)
    }

    // MARK: the network

    /// Watches the network until it changes. The resource time-out limits the wait.
    func waitForNetwork() {
        let (isFirst, hasWatch, hasChanged) = state.withLock { state in
            // The values are read before they are reset.
            defer {
                state.hasReportedOffline = true
                state.networkHasChanged = false
            }
            return (!state.hasReportedOffline, state.networkWatch != nil, state.networkHasChanged)
        }
        if isFirst { client.driverWaitsForConnectivity() }
        setAlarm()
        if hasWatch {
            if hasChanged { handle(.networkChanged) }
            return
        }
        let end = context.network.begin { [weak self] in
            self?.handle(.networkChanged, asynchronously: true) { state in
                if !state.machine.isOffline { state.networkHasChanged = true }
            }
        }
        let isUnneeded = state.withLock { state in
            if state.machine.isOver { return true }
            state.networkWatch = end
            return false
        }
        if isUnneeded { end() }
    }
}
